package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Times one model, a block of runs at a time. Its inputs take turns. */
final class Timing {
  private static final int MOST_RUNS = 10_000; // in a block

  private final Runner runner;
  private final List<ByteBuffer> inputs;
  private final Machine machine;
  private final Listener listener;
  private final List<double[]> blocksMs = new ArrayList<>();
  private int runs;
  private double firstMs;
  private double warmupMs;
  private int warmups;
  private long cpuNanos;

  /**
   * @param inputs prepared pictures, at least one
   */
  Timing(Runner runner, List<ByteBuffer> inputs, Machine machine, Listener listener) {
    this.runner = runner;
    this.inputs = inputs;
    this.machine = machine;
    this.listener = listener;
  }

  /** The very first run. */
  void first() throws ModelException, CancelledException {
    firstMs = run();
  }

  /**
   * A block: a warm-up, as the core has slowed down in the pause and models push each other out of the caches;
   * then the counted runs. The first block lasts as long as asked for, the others have as many runs.
   */
  void block(Settings settings) throws ModelException, CancelledException {
    warmUp(settings.warmupMs);
    boolean isFirst = blocksMs.isEmpty();
    int least = isFirst ? settings.runs : blocksMs.get(0).length;
    double leastMs = isFirst ? settings.blockMs : 0;
    double[] latencies = new double[least];
    double sum = 0;
    int count = 0;
    long start = machine.cpuNanos();
    while (count < least || (sum < leastMs && count < MOST_RUNS)) {
      if (count == latencies.length) {
        latencies = Arrays.copyOf(latencies, 2 * count);
      }
      latencies[count] = run();
      sum += latencies[count++];
    }
    cpuNanos += machine.cpuNanos() - start;
    blocksMs.add(Arrays.copyOf(latencies, count));
  }

  /** Runs without a pause, and without being counted, until a time is over; gives their latencies. */
  double[] stretch(double leastMs) throws ModelException, CancelledException {
    List<Double> latencies = new ArrayList<>();
    for (double sum = 0; sum < leastMs; sum += latencies.get(latencies.size() - 1)) {
      latencies.add(run());
    }
    return latencies.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /** Runs that are not counted: until the latency is steady, or the time is over. */
  private void warmUp(double longestMs) throws ModelException, CancelledException {
    Steadiness steadiness = new Steadiness();
    double sum = 0;
    while (sum < longestMs && !steadiness.isReached()) {
      double latency = run();
      steadiness.add(latency);
      sum += latency;
      warmups++;
    }
    warmupMs += sum;
  }

  /** Milliseconds of one run, rounded to 10 ns. */
  private double run() throws ModelException, CancelledException {
    if (listener.isCancelled()) {
      throw new CancelledException();
    }
    ByteBuffer input = inputs.get(runs++ % inputs.size());
    long start = machine.nanoTime();
    runner.run(input);
    return Math.max(1, Math.round((machine.nanoTime() - start) / 10.0)) / 1e5;
  }

  List<ByteBuffer> inputs() {
    return inputs;
  }

  double firstMs() {
    return firstMs;
  }

  /** Mean of the warm-up runs; null without any. */
  Double warmupMeanMs() {
    return warmups == 0 ? null : warmupMs / warmups;
  }

  double[][] blocksMs() {
    return blocksMs.toArray(new double[0][]);
  }

  /** All counted runs, in the order of time. */
  double[] latencies() {
    return blocksMs.stream().flatMapToDouble(Arrays::stream).toArray();
  }

  /** CPU time of the process divided by elapsed time, in the counted runs. */
  double busyCores() {
    return cpuNanos / 1e6 / Arrays.stream(latencies()).sum();
  }
}
