package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** How fast a model is with a number of threads. */
public final class ThreadTime implements Serializable {
  public final int threads;

  /** Timed runs. */
  public final int runs;

  /** The median of a block, milliseconds; of several blocks, the mean of their medians. */
  public final double p50;

  /** CPU time of the process divided by elapsed time. */
  public final double busyCores;

  public ThreadTime(int threads, int runs, double p50, double busyCores) {
    this.threads = threads;
    this.runs = runs;
    this.p50 = p50;
    this.busyCores = busyCores;
  }

  /** The mean of two blocks. */
  ThreadTime meanWith(ThreadTime other) {
    return new ThreadTime(
        threads, runs + other.runs, (p50 + other.p50) / 2, (busyCores + other.busyCores) / 2);
  }
}
