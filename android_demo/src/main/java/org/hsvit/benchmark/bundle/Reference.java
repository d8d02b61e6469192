package org.hsvit.benchmark.bundle;

/** The correct outputs of a model for the images of its bundle. */
public final class Reference {
  /** Outputs as floats, flattened; one row for each image. */
  public final float[][] outputs;

  /** The largest difference of one number that counts as correct. */
  public final double maxAbsDiff;

  /** What computed them, such as {@code keras 3.15.0}. */
  public final String runtime;

  public Reference(float[][] outputs, double maxAbsDiff, String runtime) {
    this.outputs = outputs;
    this.maxAbsDiff = maxAbsDiff;
    this.runtime = runtime;
  }
}
