package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Pair;

/** Measures a pair of models side by side and checks their answers. */
public final class Benchmark {
  private final Bundle bundle;
  private final RunnerFactory factory;
  private final PictureDecoder decoder;
  private final Machine machine;

  public Benchmark(
      Bundle bundle, RunnerFactory factory, PictureDecoder decoder, Machine machine) {
    this.bundle = bundle;
    this.factory = factory;
    this.decoder = decoder;
    this.machine = machine;
  }

  /** The bundle whose pairs are measured. */
  public Bundle bundle() {
    return bundle;
  }

  /**
   * Measures a pair. Takes as long as it takes: not for the main thread.
   *
   * @throws ModelException a file is not what the bundle says, or a model does not run
   * @throws CancelledException the listener said so
   */
  public PairResult run(Pair pair, Settings settings, Listener listener)
      throws ModelException, CancelledException {
    throw new UnsupportedOperationException();
  }
}
