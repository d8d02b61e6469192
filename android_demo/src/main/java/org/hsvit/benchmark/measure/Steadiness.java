package org.hsvit.benchmark.measure;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;

/**
 * Tells when a warm-up can end: the latency no longer falls.
 *
 * <p>An idle core's clock rises over tens of milliseconds, in steps that last a few. So latencies are compared
 * over windows of time, not over numbers of runs, of which a small model has hundreds while the clock rises.
 */
final class Steadiness {
  private static final double WINDOW_MS = 25;
  private static final int LEAST_RUNS = 3;
  private static final int WINDOWS = 3;
  private static final double TOLERANCE = 1.03; // slowest over fastest window

  private final ArrayDeque<Double> medians = new ArrayDeque<>();
  private double[] window = new double[64];
  private int runs;
  private double elapsed;
  private boolean reached;

  /** Adds a run, milliseconds. */
  void add(double latency) {
    if (runs == window.length) {
      window = Arrays.copyOf(window, 2 * runs);
    }
    window[runs++] = latency;
    elapsed += latency;
    if (elapsed >= WINDOW_MS && runs >= LEAST_RUNS) {
      Arrays.sort(window, 0, runs);
      compare(window[runs / 2]);
      runs = 0;
      elapsed = 0;
    }
  }

  private void compare(double median) {
    medians.add(median);
    if (medians.size() > WINDOWS) {
      medians.remove();
    }
    double slowest = Collections.max(medians);
    reached = medians.size() == WINDOWS && slowest <= TOLERANCE * Collections.min(medians);
  }

  /** Whether the medians of the last windows are about equal. */
  boolean isReached() {
    return reached;
  }
}
