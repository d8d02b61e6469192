package org.hsvit.benchmark.measure;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.Cut;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Listener.Phase;

/** Measures what the settings ask for besides the blocks that both models of a pair have in turn. */
final class ExtraMeasurer {
  private final Pair pair;
  private final BundleSource source;
  private final RunnerFactory factory;
  private final Machine machine;
  private final Listener listener;
  private final Settings settings;
  private final Cooling cooling;
  private final ExtraPlan plan;
  private int done;

  ExtraMeasurer(
      Pair pair,
      BundleSource source,
      RunnerFactory factory,
      Machine machine,
      Listener listener,
      Settings settings) {
    this.pair = pair;
    this.source = source;
    this.factory = factory;
    this.machine = machine;
    this.listener = listener;
    this.settings = settings;
    this.cooling = new Cooling(machine, listener);
    this.plan = new ExtraPlan(pair, settings, machine.cores());
  }

  /**
   * Measures both models of a pair.
   *
   * @param timings of the loaded models; their inputs are used
   * @param deadline on the machine's clock: sustained runs end there, but each has one stretch
   */
  List<Extra> measure(List<Timing> timings, long deadline) throws ModelException, CancelledException {
    List<ModelFile> models = List.of(pair.original, pair.mobile);
    List<Double> onCpu = new ArrayList<>();
    List<List<KindTime>> kinds = new ArrayList<>();
    List<List<ThreadTime>> sweeps = new ArrayList<>();
    for (int i = 0; i < models.size(); i++) {
      List<ByteBuffer> inputs = timings.get(i).inputs();
      boolean asked = settings.accelerator() == Accelerator.CPU;
      Settings cpu = settings.on(Accelerator.CPU);
      onCpu.add(asked ? null : block(models.get(i), inputs, cpu).p50);
      kinds.add(models.get(i).cuts.isEmpty() ? null : kinds(models.get(i), inputs));
      sweeps.add(plan.hasSweep() ? sweep(models.get(i), inputs) : null);
    }
    List<Extra> extras = new ArrayList<>();
    for (int i = 0; i < models.size(); i++) {
      long now = machine.nanoTime();
      long share = (deadline - now) / (models.size() - i);
      List<SustainedTime> sustained = plan.hasSustained() ? sustained(timings.get(i), now + share) : null;
      extras.add(new Extra(onCpu.get(i), kinds.get(i), sweeps.get(i), sustained));
    }
    return extras;
  }

  /**
   * The operations of each kind, each file alone. One that does not run leaves its kind without a time.
   *
   * @param inputs whatever a run has to be given; cuts do not use it
   */
  private List<KindTime> kinds(ModelFile model, List<ByteBuffer> inputs) throws CancelledException {
    Map<String, KindTime> kinds = new LinkedHashMap<>();
    for (Cut cut : model.cuts) {
      KindTime before = kinds.getOrDefault(cut.kind, new KindTime(cut.kind, 0, 0.0));
      kinds.put(cut.kind, before.with(time(cut, inputs)));
      tell(1);
    }
    return List.copyOf(kinds.values());
  }

  private Double time(Cut cut, List<ByteBuffer> inputs) throws CancelledException {
    try {
      Contents.check(cut.model, source);
      return block(cut.model, inputs, settings).p50;
    } catch (ModelException | IOException error) {
      return null;
    }
  }

  /** Each number of threads has a block on the way up and one on the way down, as the phone gets warm. */
  private List<ThreadTime> sweep(ModelFile model, List<ByteBuffer> inputs)
      throws ModelException, CancelledException {
    int most = plan.mostThreads;
    ThreadTime[] up = new ThreadTime[most];
    for (int i = 0; i < most; i++) {
      up[i] = block(model, inputs, settings.withThreads(i + 1));
      tell(1);
    }
    List<ThreadTime> times = new ArrayList<>();
    for (int i = most - 1; i >= 0; i--) {
      ThreadTime down = block(model, inputs, settings.withThreads(i + 1));
      times.add(0, up[i].meanWith(down));
      tell(1);
    }
    return times;
  }

  private void tell(int steps) {
    done += steps;
    listener.onProgress(Phase.TIMING_MORE, done, plan.steps());
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

  private List<SustainedTime> sustained(Timing timing, long deadline)
      throws ModelException, CancelledException {
    cooling.untilCool(settings.coolS);
    List<SustainedTime> times = new ArrayList<>();
    long start = machine.nanoTime();
    while (times.size() < ExtraPlan.STRETCHES && (times.isEmpty() || machine.nanoTime() < deadline)) {
      double[] latencies = timing.stretch(plan.stretchMs());
      double p50 = Statistics.summarize(latencies).p50;
      double seconds = (machine.nanoTime() - start) / 1e9;
      times.add(new SustainedTime(seconds, latencies.length, p50, machine.state()));
      tell(1);
    }
    tell(ExtraPlan.STRETCHES - times.size());
    return times;
  }
}
