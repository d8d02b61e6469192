package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** Median latency of the mobile model over that of the original: below 1, mobile is faster. */
public final class Ratio implements Serializable {
  public final double value;

  /** Ends of the confidence interval; null for a single block. */
  public final Double low;

  public final Double high;
  public final double confidence;

  Ratio(double value, Double low, Double high, double confidence) {
    this.value = value;
    this.low = low;
    this.high = high;
    this.confidence = confidence;
  }
}
