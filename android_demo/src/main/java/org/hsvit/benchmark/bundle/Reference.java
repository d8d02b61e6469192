package org.hsvit.benchmark.bundle;

/** The right answers of a model to the images of its bundle. */
public final class Reference {
  /** Outputs as floats, one row for each image. */
  public final float[][] outputs;

  /** The largest difference of one output that is still right. */
  public final double maxAbsDiff;

  /** What computed them, such as {@code keras 3.15.0}. */
  public final String runtime;

  public Reference(float[][] outputs, double maxAbsDiff, String runtime) {
    this.outputs = outputs;
    this.maxAbsDiff = maxAbsDiff;
    this.runtime = runtime;
  }
}
