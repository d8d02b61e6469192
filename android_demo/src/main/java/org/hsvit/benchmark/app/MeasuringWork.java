package org.hsvit.benchmark.app;

import java.io.IOException;
import java.io.Serializable;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Benchmark;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.MeasurerWithMemory;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.ModelMemory;
import org.hsvit.benchmark.measure.PairMeasurer;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.measure.Settings;

/** Measures the pairs of a bundle, and the memory of their models, each as a work of its own. */
final class MeasuringWork {
  private MeasuringWork() {}

  /**
   * @param key of the bundle in {@link Library}
   */
  static PairMeasurer measurer(Phone phone, Bundle bundle, String key) {
    return new MeasurerWithMemory(
        (pair, settings, limitMs, listener) ->
            result(phone, new OfPair(key, pair, settings, limitMs), bundle, listener),
        (model, settings, listener) ->
            result(phone, new OfMemory(key, model, settings), bundle, listener),
        phone.machine);
  }

  private static <T extends Serializable> T result(
      Phone phone, Work<T> work, Bundle bundle, Listener listener)
      throws ModelException, CancelledException {
    try {
      return phone.isolation.run(work, bundle, listener);
    } catch (IOException error) {
      throw new ModelException(null, "its result cannot be read: " + error.getMessage(), error);
    }
  }

  private static final class OfPair implements Work<PairResult> {
    private final String key;
    private final String name;
    private final Settings settings;
    private final long limitMs;

    OfPair(String key, Pair pair, Settings settings, long limitMs) {
      this.key = key;
      this.name = pair.name;
      this.settings = settings;
      this.limitMs = limitMs;
    }

    @Override
    public PairResult run(BenchmarkApplication app, RunnerFactory runners, Listener listener)
        throws ModelException, CancelledException, IOException {
      Bundle bundle = Library.open(app, key);
      return new Benchmark(bundle, runners, app.phone.decoder, app.phone.machine)
          .measure(bundle.pair(name), settings, limitMs, listener);
    }
  }

  private static final class OfMemory implements Work<ModelMemory> {
    private final String key;
    private final String file;
    private final Settings settings;

    OfMemory(String key, ModelFile model, Settings settings) {
      this.key = key;
      this.file = model.file;
      this.settings = settings;
    }

    @Override
    public ModelMemory run(BenchmarkApplication app, RunnerFactory runners, Listener listener)
        throws ModelException, IOException {
      Bundle bundle = Library.open(app, key);
      return ModelMemory.measure(bundle, bundle.model(file), runners, app.phone.machine, settings);
    }
  }
}
