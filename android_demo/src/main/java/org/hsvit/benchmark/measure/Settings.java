package org.hsvit.benchmark.measure;

import java.io.Serializable;
import java.util.List;

/** How to measure. */
public final class Settings implements Serializable {
  public static final Settings DEFAULT = new Builder().build();

  /** CPU threads to ask for. */
  public final int threads;

  /** Blocks of each model. */
  public final int blocks;

  /** Least timed runs in a block. */
  public final int runs;

  /** Least time of a block, milliseconds: a fast model has more runs. */
  public final int blockMs;

  /** Longest warm-up before each block, milliseconds; it ends once the latency is steady. */
  public final int warmupMs;

  /** Pause before each block, milliseconds. */
  public final int cooldownMs;

  /**
   * Longest time of a run over all its pairs, seconds, with thread sweeps and sustained runs; then each pair has fewer
   * blocks and shorter sustained runs.
   */
  public final int limitS;

  /** What is asked to run the models, one after the other. */
  public final List<Accelerator> accelerators;

  /** Whether the CPU's kernels are XNNPACK's, or else TensorFlow Lite's own. */
  public final boolean xnnpack;

  /** Whether half precision is allowed where the runtime has it: on a GPU, in NNAPI. */
  public final boolean fp16;

  /** Longest wait until a warm phone is cool, before each pair and each sustained run, seconds. */
  public final int coolS;

  /** Whether to time each model on the CPU with every number of threads. */
  public final boolean threadSweep;

  /** How long to run each model without a pause, seconds; 0 for not at all. */
  public final int sustainedS;

  /** The cores that the models run on; empty for all. */
  public final List<Integer> cores;

  private Settings(Builder asked) {
    threads = within("threads", asked.threads, 1, 64);
    blocks = within("blocks", asked.blocks, 1, 1000);
    runs = within("runs", asked.runs, 1, 10_000);
    blockMs = within("block_ms", asked.blockMs, 0, 60_000);
    warmupMs = within("warmup_ms", asked.warmupMs, 0, 60_000);
    cooldownMs = within("cooldown_ms", asked.cooldownMs, 0, 600_000);
    limitS = within("limit_s", asked.limitS, 1, 86_400);
    accelerators = List.copyOf(asked.accelerators);
    xnnpack = asked.xnnpack;
    fp16 = asked.fp16;
    coolS = within("cool_s", asked.coolS, 0, 3600);
    threadSweep = asked.threadSweep;
    sustainedS = within("sustained_s", asked.sustainedS, 0, 7200);
    cores = List.copyOf(asked.cores);
    if (accelerators.isEmpty()) {
      throw new IllegalArgumentException("accelerators must be at least one");
    }
  }

  /** The first accelerator; the only one while a pair is measured. */
  public Accelerator accelerator() {
    return accelerators.get(0);
  }

  /** The same with another number of threads. */
  Settings withThreads(int count) {
    return new Builder(this).threads(count).build();
  }

  /** The same on one accelerator. */
  public Settings on(Accelerator accelerator) {
    return new Builder(this).accelerators(List.of(accelerator)).build();
  }

  private static int within(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + "=" + value + " must be from " + least + " to " + most);
    }
    return value;
  }

  /** Settings that are not all the usual ones. */
  public static final class Builder {
    private int threads = 1;
    private int blocks = 20;
    private int runs = 10;
    private int blockMs = 20;
    private int warmupMs = 1000;
    private int cooldownMs = 100;
    private int limitS = 1800;
    private List<Accelerator> accelerators = List.of(Accelerator.CPU);
    private boolean xnnpack = true;
    private boolean fp16;
    private int coolS = 60;
    private boolean threadSweep;
    private int sustainedS;
    private List<Integer> cores = List.of();

    public Builder() {}

    private Builder(Settings settings) {
      threads = settings.threads;
      blocks = settings.blocks;
      runs = settings.runs;
      blockMs = settings.blockMs;
      warmupMs = settings.warmupMs;
      cooldownMs = settings.cooldownMs;
      limitS = settings.limitS;
      accelerators = settings.accelerators;
      xnnpack = settings.xnnpack;
      fp16 = settings.fp16;
      coolS = settings.coolS;
      threadSweep = settings.threadSweep;
      sustainedS = settings.sustainedS;
      cores = settings.cores;
    }

    public Builder threads(int count) {
      threads = count;
      return this;
    }

    public Builder blocks(int count) {
      blocks = count;
      return this;
    }

    public Builder runs(int count) {
      runs = count;
      return this;
    }

    public Builder blockMs(int milliseconds) {
      blockMs = milliseconds;
      return this;
    }

    public Builder warmupMs(int milliseconds) {
      warmupMs = milliseconds;
      return this;
    }

    public Builder cooldownMs(int milliseconds) {
      cooldownMs = milliseconds;
      return this;
    }

    public Builder limitS(int seconds) {
      limitS = seconds;
      return this;
    }

    public Builder accelerators(List<Accelerator> asked) {
      accelerators = asked;
      return this;
    }

    public Builder xnnpack(boolean used) {
      xnnpack = used;
      return this;
    }

    public Builder coolS(int seconds) {
      coolS = seconds;
      return this;
    }

    public Builder threadSweep(boolean asked) {
      threadSweep = asked;
      return this;
    }

    public Builder sustainedS(int seconds) {
      sustainedS = seconds;
      return this;
    }

    public Builder cores(List<Integer> asked) {
      cores = asked;
      return this;
    }

    public Builder fp16(boolean allowed) {
      fp16 = allowed;
      return this;
    }

    /**
     * @throws IllegalArgumentException a number is out of its range; the message names it
     */
    public Settings build() {
      return new Settings(this);
    }
  }
}
