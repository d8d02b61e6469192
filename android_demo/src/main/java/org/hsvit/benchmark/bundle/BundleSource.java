package org.hsvit.benchmark.bundle;

import java.io.IOException;
import java.io.InputStream;

/** Where the files of a bundle are: a folder, or the assets of an APK. */
public interface BundleSource {
  /**
   * Opens a file of the bundle.
   *
   * @param file its name as bundle.json has it, such as {@code images/000.png}
   * @throws IOException there is no such file, or it cannot be read
   */
  InputStream open(String file) throws IOException;
}
