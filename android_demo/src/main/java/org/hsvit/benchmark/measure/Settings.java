package org.hsvit.benchmark.measure;

/** How to measure. The defaults are those of {@code python -m export.benchmark}, with a pause for cooling. */
public final class Settings {
  public static final Settings DEFAULT = new Settings(1, 20, 10, 3, 100, Accelerator.CPU);

  /** CPU threads to ask for. */
  public final int threads;

  /** Blocks of each model. */
  public final int blocks;

  /** Timed runs in a block. */
  public final int runs;

  /** Warm-up runs before each block. */
  public final int warmup;

  /** Pause before each block, milliseconds. */
  public final int cooldownMs;

  public final Accelerator accelerator;

  /**
   * @throws IllegalArgumentException a number is out of its range; the message names it
   */
  public Settings(
      int threads, int blocks, int runs, int warmup, int cooldownMs, Accelerator accelerator) {
    this.threads = within("threads", threads, 1, 64);
    this.blocks = within("blocks", blocks, 1, 1000);
    this.runs = within("runs", runs, 1, 10_000);
    this.warmup = within("warmup", warmup, 0, 10_000);
    this.cooldownMs = within("cooldown_ms", cooldownMs, 0, 600_000);
    this.accelerator = accelerator;
  }

  private static int within(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + "=" + value + " must be from " + least + " to " + most);
    }
    return value;
  }
}
