package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** Times one model, a block of runs at a time. Its inputs take turns. */
final class Timing {
  private final Runner runner;
  private final List<ByteBuffer> inputs;
  private final Machine machine;
  private final Listener listener;
  private final double[][] blocksMs;
  private int runs;
  private double firstMs;
  private double warmupMs;
  private int warmups;
  private int blocks;
  private long cpuNanos;

  /**
   * @param inputs prepared pictures, at least one
   * @param blocks how many blocks there will be
   */
  Timing(Runner runner, List<ByteBuffer> inputs, int blocks, Machine machine, Listener listener) {
    this.runner = runner;
    this.inputs = inputs;
    this.machine = machine;
    this.listener = listener;
    this.blocksMs = new double[blocks][];
  }

  /** The very first run. */
  void first() throws ModelException, CancelledException {
    firstMs = run();
  }

  /** A block: warm-up runs, as models push each other out of the caches; then the counted runs. */
  void block(int warmup, int runs) throws ModelException, CancelledException {
    for (int i = 0; i < warmup; i++) {
      warmupMs += run();
    }
    warmups += warmup;
    double[] latencies = new double[runs];
    long start = machine.cpuNanos();
    for (int i = 0; i < runs; i++) {
      latencies[i] = run();
    }
    cpuNanos += machine.cpuNanos() - start;
    blocksMs[blocks++] = latencies;
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

  double firstMs() {
    return firstMs;
  }

  /** Mean of the warm-up runs; null without any. */
  Double warmupMeanMs() {
    return warmups == 0 ? null : warmupMs / warmups;
  }

  double[][] blocksMs() {
    return blocksMs;
  }

  /** All counted runs, in the order of time. */
  double[] latencies() {
    return Arrays.stream(blocksMs).flatMapToDouble(Arrays::stream).toArray();
  }

  /** CPU time of the process divided by elapsed time, in the counted runs. */
  double busyCores() {
    return cpuNanos / 1e6 / Arrays.stream(latencies()).sum();
  }
}
