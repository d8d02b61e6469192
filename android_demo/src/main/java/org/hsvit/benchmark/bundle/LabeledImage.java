package org.hsvit.benchmark.bundle;

/** An image of a bundle: an 8-bit gray or RGB PNG of the exact size of the models' input. */
public final class LabeledImage {
  public final String file;

  /** Index of the correct class, for classification; null where it is not known. */
  public final Integer label;

  LabeledImage(String file, Integer label) {
    this.file = file;
    this.label = label;
  }
}
