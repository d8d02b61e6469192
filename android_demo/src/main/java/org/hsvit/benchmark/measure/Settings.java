package org.hsvit.benchmark.measure;

import java.io.Serializable;

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

  /** Longest time of a run over all its pairs, seconds; then each pair has fewer blocks. */
  public final int limitS;

  public final Accelerator accelerator;

  private Settings(Builder asked) {
    threads = within("threads", asked.threads, 1, 64);
    blocks = within("blocks", asked.blocks, 1, 1000);
    runs = within("runs", asked.runs, 1, 10_000);
    blockMs = within("block_ms", asked.blockMs, 0, 60_000);
    warmupMs = within("warmup_ms", asked.warmupMs, 0, 60_000);
    cooldownMs = within("cooldown_ms", asked.cooldownMs, 0, 600_000);
    limitS = within("limit_s", asked.limitS, 1, 86_400);
    accelerator = asked.accelerator;
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
    private Accelerator accelerator = Accelerator.CPU;

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

    public Builder accelerator(Accelerator asked) {
      accelerator = asked;
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
