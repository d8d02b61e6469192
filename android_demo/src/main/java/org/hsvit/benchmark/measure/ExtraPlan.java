package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.bundle.Pair;

/**
 * The steps of what is measured of a pair besides: blocks of both models' cuts and thread sweeps, then stretches of
 * their sustained runs, which warm the phone.
 */
public final class ExtraPlan {
  /** Of a sustained run. */
  public static final int STRETCHES = 60;

  /** Most threads of a sweep. */
  final int mostThreads;

  private final int blocks;
  private final boolean sweeps;
  private final int sustained;
  private final double stretchMs;

  /**
   * @param pair has the cuts
   * @param settings of one accelerator
   * @param cores how many the phone has
   */
  public ExtraPlan(Pair pair, Settings settings, int cores) {
    sweeps = settings.threadSweep && settings.accelerator() == Accelerator.CPU;
    mostThreads = settings.cores.isEmpty() ? cores : settings.cores.size();
    int sweep = sweeps ? 2 * 2 * mostThreads : 0; // on the way up and down
    blocks = pair.original.cuts.size() + pair.mobile.cuts.size() + sweep;
    sustained = settings.sustainedS > 0 ? 2 * STRETCHES : 0;
    stretchMs = 1000.0 * settings.sustainedS / STRETCHES;
  }

  boolean hasSweep() {
    return sweeps;
  }

  boolean hasSustained() {
    return sustained > 0;
  }

  double stretchMs() {
    return stretchMs;
  }

  /** All of them, of both models. */
  public int steps() {
    return blocks + sustained;
  }

  /**
   * How long those will take that are left, milliseconds.
   *
   * @param done steps that are done
   * @param blockMs how long a block of one model takes
   */
  public double leftMs(int done, double blockMs) {
    int stretches = Math.max(0, Math.min(sustained, steps() - done));
    return Math.max(0, blocks - done) * blockMs + stretches * stretchMs;
  }
}
