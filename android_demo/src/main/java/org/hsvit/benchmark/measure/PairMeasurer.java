package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.bundle.Pair;

/** Measures pairs: {@link Benchmark} does, here or in a process of its own. */
public interface PairMeasurer {
  /**
   * Measures a pair. This takes long: not for the main thread.
   *
   * @param limitMs when the last block has to end, milliseconds from now; two blocks of each model are measured
   *     in any case
   * @throws ModelException a file is not what the bundle says, or a model does not run
   * @throws CancelledException the listener asked for it
   */
  PairResult measure(Pair pair, Settings settings, long limitMs, Listener listener)
      throws ModelException, CancelledException;
}
