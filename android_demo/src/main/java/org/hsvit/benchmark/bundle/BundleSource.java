package org.hsvit.benchmark.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Where the files of a bundle are: a folder, or the assets of an APK. */
public interface BundleSource {
  /**
   * Opens a file of the bundle.
   *
   * @param file its name as bundle.json has it, such as {@code images/000.png}
   * @throws IOException there is no such file, or it cannot be read
   */
  InputStream open(String file) throws IOException;

  /**
   * A file of the bundle as a direct buffer. Folders and APKs map it, as models may be larger than the heap;
   * other sources read it.
   *
   * @return its bytes in native order, not to be changed
   * @throws IOException there is no such file, or it cannot be mapped
   */
  default ByteBuffer map(String file) throws IOException {
    byte[] bytes = Contents.read(this, file);
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
    buffer.duplicate().put(bytes);
    return buffer;
  }
}
