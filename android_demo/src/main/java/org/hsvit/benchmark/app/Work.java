package org.hsvit.benchmark.app;

import java.io.IOException;
import java.io.Serializable;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.RunnerFactory;

/** Work that opens models, and that a process can hand to another. */
interface Work<T extends Serializable> extends Serializable {
  /** What it does first, for the line of a crash. */
  default String doing() {
    return "starting";
  }

  /**
   * Does the work.
   *
   * @param app of the process that does it
   * @param runners loads models
   * @throws ModelException a model is not what its bundle says, or does not run
   * @throws CancelledException the listener asked for it
   * @throws IOException a file cannot be read
   */
  T run(BenchmarkApplication app, RunnerFactory runners, Listener listener)
      throws ModelException, CancelledException, IOException;
}
