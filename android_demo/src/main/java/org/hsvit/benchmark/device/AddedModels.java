package org.hsvit.benchmark.device;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.measure.ModelException;

/** Makes a bundle of {@code .tflite} files that the user adds alone. */
public final class AddedModels {
  private AddedModels() {}

  /**
   * Writes the {@code bundle.json} of files that are in a folder already, and reads it.
   *
   * <p>Shapes and number formats are what the runtime says; there are no images and no reference, so nothing
   * is checked. A file alone is paired with itself: its ratio shows the noise of the phone.
   *
   * @param folder holds the files; its name becomes that of the bundle
   * @param files their names, the original first, then its mobile artifacts
   * @throws ModelException the runtime refuses one, or it is no image classifier
   * @throws IOException a file cannot be read, or there is no room
   */
  public static Bundle describe(File folder, List<String> files)
      throws ModelException, IOException {
    throw new UnsupportedOperationException();
  }
}
