package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** Comparison of a model's outputs on this phone with the correct ones. */
public final class ReferenceCheck implements Serializable {
  public final int samples;

  /** Samples with a number that differs by more than the limit, or is not finite. */
  public final int wrongSamples;

  /** Largest difference of one number; null where a number is not finite. */
  public final Double maxAbsDiff;

  /** The largest difference that counts as correct. */
  public final double limit;

  /** What computed the correct outputs. */
  public final String runtime;

  ReferenceCheck(int samples, int wrongSamples, Double maxAbsDiff, double limit, String runtime) {
    this.samples = samples;
    this.wrongSamples = wrongSamples;
    this.maxAbsDiff = maxAbsDiff;
    this.limit = limit;
    this.runtime = runtime;
  }

  public boolean isRight() {
    return wrongSamples == 0;
  }
}
