package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** A summary of latencies, milliseconds. */
public final class Summary implements Serializable {
  public final int count;
  public final double p5;
  public final double p50;
  public final double p90;
  public final double p95;
  public final double p99;
  public final double min;
  public final double mean;
  public final double max;

  /** Sample standard deviation. */
  public final double std;

  Summary(
      int count,
      double p5,
      double p50,
      double p90,
      double p95,
      double p99,
      double min,
      double mean,
      double max,
      double std) {
    this.count = count;
    this.p5 = p5;
    this.p50 = p50;
    this.p90 = p90;
    this.p95 = p95;
    this.p99 = p99;
    this.min = min;
    this.mean = mean;
    this.max = max;
    this.std = std;
  }
}
