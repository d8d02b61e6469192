package org.hsvit.benchmark.measure;

/** Whether a model gave the right answers on this phone. */
public final class ReferenceCheck {
  public final int images;

  /** Images with an output further from the reference than allowed, or not finite. */
  public final int wrongImages;

  /** Largest difference of one output; null where an output is not finite. */
  public final Double maxAbsDiff;

  /** The largest difference that is still right. */
  public final double limit;

  /** What computed the reference. */
  public final String runtime;

  ReferenceCheck(int images, int wrongImages, Double maxAbsDiff, double limit, String runtime) {
    this.images = images;
    this.wrongImages = wrongImages;
    this.maxAbsDiff = maxAbsDiff;
    this.limit = limit;
    this.runtime = runtime;
  }

  public boolean isRight() {
    return wrongImages == 0;
  }
}
