package org.hsvit.benchmark.measure;

import java.io.IOException;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.ModelFile;

/** Loads models. */
public interface RunnerFactory {
  /**
   * Loads a model.
   *
   * @throws ModelException the runtime refuses it, or its tensors differ from the bundle
   */
  Runner open(ModelFile model, BundleSource source, Settings settings) throws ModelException;

  /**
   * Loads a model after checking its file.
   *
   * @throws ModelException as {@link #open}, and where size or SHA-256 of the file differ from the bundle
   */
  default Runner openChecked(ModelFile model, BundleSource source, Settings settings)
      throws ModelException {
    try {
      Contents.check(model, source);
    } catch (IOException error) {
      throw new ModelException(model.file, error.getMessage(), error);
    }
    return open(model, source, settings);
  }
}
