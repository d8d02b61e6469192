package org.hsvit.benchmark.app;

import java.io.IOException;
import java.io.Serializable;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;

/** Where work with models is done: a native crash there is a {@link ModelException} here. */
interface Isolation {
  /** Never cancels, and keeps no progress. */
  Listener SILENT =
      new Listener() {
        @Override
        public void onProgress(Phase phase, int done, int total) {}

        @Override
        public boolean isCancelled() {
          return false;
        }
      };

  /**
   * Does work. Not for the main thread.
   *
   * @param bundle the one that the result's pairs and models are of; null if it has none
   * @throws ModelException as the work, or its process crashed
   * @throws CancelledException as the work
   * @throws IOException as the work
   */
  <T extends Serializable> T run(Work<T> work, Bundle bundle, Listener listener)
      throws ModelException, CancelledException, IOException;

  /** Does work in this process. */
  static Isolation none(BenchmarkApplication app) {
    return new Isolation() {
      @Override
      public <T extends Serializable> T run(Work<T> work, Bundle bundle, Listener listener)
          throws ModelException, CancelledException, IOException {
        return work.run(app, app.phone.runners, listener);
      }
    };
  }
}
