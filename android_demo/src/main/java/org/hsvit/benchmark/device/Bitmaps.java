package org.hsvit.benchmark.device;

import android.content.ContentResolver;
import android.graphics.Bitmap;
import android.net.Uri;
import java.io.IOException;
import java.io.InputStream;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Picture;
import org.hsvit.benchmark.measure.PictureDecoder;

/** Android's bitmaps as pictures for models. */
public final class Bitmaps implements PictureDecoder {
  @Override
  public Picture decode(InputStream file, int channels) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Decodes a photo upright, as large as is of use.
   *
   * @param leastSide how small its shorter side may become, pixels
   * @throws IOException it cannot be read or is no image
   */
  public static Bitmap load(ContentResolver resolver, Uri photo, int leastSide) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The picture that a model is shown of a bitmap: its shorter side fitted, the centre cropped. */
  public static Picture fit(Bitmap bitmap, ModelFile model) {
    throw new UnsupportedOperationException();
  }

  /** A picture to be looked at. */
  public static Bitmap toBitmap(Picture picture) {
    throw new UnsupportedOperationException();
  }
}
