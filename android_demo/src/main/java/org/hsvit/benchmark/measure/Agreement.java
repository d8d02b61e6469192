package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** How near the outputs of two models for the same images are. */
public final class Agreement implements Serializable {
  public final int samples;

  /**
   * Share of what both models say: of images with the same class, or of boxes that both keep; null where
   * outputs are just numbers.
   */
  public final Double same;

  /** Largest difference of two numbers at the same place. */
  public final double maxAbsDiff;

  /** Cosine similarity of all numbers of an output as one vector; of several outputs, the lowest. */
  public final double cosine;

  Agreement(int samples, Double same, double maxAbsDiff, double cosine) {
    this.samples = samples;
    this.same = same;
    this.maxAbsDiff = maxAbsDiff;
    this.cosine = cosine;
  }
}
