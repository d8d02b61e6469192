package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.ModelFile;

/** Loads models. */
public interface RunnerFactory {
  /**
   * Loads a model.
   *
   * @throws ModelException the runtime refuses it, or its tensors are not what the bundle says
   */
  Runner open(ModelFile model, BundleSource source, Settings settings) throws ModelException;
}
