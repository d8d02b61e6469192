package org.hsvit.benchmark.measure;

import java.io.IOException;
import java.io.InputStream;

/** Reads image files. */
public interface PictureDecoder {
  /**
   * Decodes an image without resizing it.
   *
   * @param channels 1 for gray, 3 for RGB
   * @throws IOException it is damaged or no image
   */
  Picture decode(InputStream file, int channels) throws IOException;
}
