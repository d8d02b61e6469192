package org.hsvit.benchmark.measure;

/** How alike two models answer the same images. */
public final class Agreement {
  public final int images;

  /** Share of images with the same largest output. */
  public final double top1Agreement;

  /** Largest difference of two outputs. */
  public final double maxAbsDiff;

  /** Cosine of all answers as one vector. */
  public final double cosine;

  Agreement(int images, double top1Agreement, double maxAbsDiff, double cosine) {
    this.images = images;
    this.top1Agreement = top1Agreement;
    this.maxAbsDiff = maxAbsDiff;
    this.cosine = cosine;
  }
}
