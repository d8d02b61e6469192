package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Listener.Phase;

/** Measures what the settings ask for besides the blocks that both models of a pair have in turn. */
final class ExtraMeasurer {
  private static final int STRETCHES = 60; // of a sustained run

  private final BundleSource source;
  private final RunnerFactory factory;
  private final Machine machine;
  private final Listener listener;
  private final Settings settings;
  private final Cooling cooling;

  ExtraMeasurer(
      BundleSource source, RunnerFactory factory, Machine machine, Listener listener, Settings settings) {
    this.source = source;
    this.factory = factory;
    this.machine = machine;
    this.listener = listener;
    this.settings = settings;
    this.cooling = new Cooling(machine, listener);
  }

  /**
   * @param timing of the loaded model; its inputs are used
   */
  Extra measure(ModelFile model, Timing timing) throws ModelException, CancelledException {
    List<ByteBuffer> inputs = timing.inputs();
    boolean onCpu = settings.accelerator() == Accelerator.CPU;
    Settings cpu = settings.on(Accelerator.CPU);
    return new Extra(
        onCpu ? null : block(model, inputs, cpu).p50,
        onCpu && settings.threadSweep ? sweep(model, inputs) : null,
        settings.sustainedS == 0 ? null : sustained(timing));
  }

  /** Each number of threads has a block on the way up and one on the way down, as the phone gets warm. */
  private List<ThreadTime> sweep(ModelFile model, List<ByteBuffer> inputs)
      throws ModelException, CancelledException {
    int cores = machine.cores();
    ThreadTime[] up = new ThreadTime[cores];
    for (int i = 0; i < cores; i++) {
      listener.onProgress(Phase.TIMING_MORE, i, 2 * cores);
      up[i] = block(model, inputs, settings.withThreads(i + 1));
    }
    List<ThreadTime> times = new ArrayList<>();
    for (int i = cores - 1; i >= 0; i--) {
      listener.onProgress(Phase.TIMING_MORE, 2 * cores - 1 - i, 2 * cores);
      ThreadTime down = block(model, inputs, settings.withThreads(i + 1));
      times.add(0, up[i].meanWith(down));
    }
    return times;
  }

  private ThreadTime block(ModelFile model, List<ByteBuffer> inputs, Settings asked)
      throws ModelException, CancelledException {
    try (Runner runner = factory.open(model, source, asked)) {
      Timing timing = new Timing(runner, inputs, machine, listener);
      cooling.pause(asked.cooldownMs);
      timing.block(asked);
      Summary summary = Statistics.summarize(timing.latencies());
      return new ThreadTime(asked.threads, summary.count, summary.p50, timing.busyCores());
    }
  }

  private List<SustainedTime> sustained(Timing timing) throws ModelException, CancelledException {
    cooling.untilCool(settings.coolS);
    List<SustainedTime> times = new ArrayList<>();
    long start = machine.nanoTime();
    for (int i = 1; i <= STRETCHES; i++) {
      double[] latencies = timing.stretch(1000.0 * settings.sustainedS / STRETCHES);
      double p50 = Statistics.summarize(latencies).p50;
      double seconds = (machine.nanoTime() - start) / 1e9;
      times.add(new SustainedTime(seconds, latencies.length, p50, machine.state()));
      listener.onProgress(Phase.TIMING_MORE, i, STRETCHES);
    }
    return times;
  }
}
