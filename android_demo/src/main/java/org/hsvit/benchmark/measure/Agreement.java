package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** How near the outputs of two models for the same images are. */
public final class Agreement implements Serializable {
  public final int samples;

  /** Share of images with the same class; null where the models do not classify. */
  public final Double sameClass;

  /** Largest difference of two numbers at the same place. */
  public final double maxAbsDiff;

  /** Cosine similarity of all outputs as one vector. */
  public final double cosine;

  Agreement(int samples, Double sameClass, double maxAbsDiff, double cosine) {
    this.samples = samples;
    this.sameClass = sameClass;
    this.maxAbsDiff = maxAbsDiff;
    this.cosine = cosine;
  }
}
