package org.hsvit.benchmark.bundle;

/** An image of a bundle: an 8-bit gray or RGB PNG of just the size that the models take. */
public final class LabeledImage {
  public final String file;

  /** Position of the right class in {@link Bundle#classNames()}; null where it is not known. */
  public final Integer label;

  LabeledImage(String file, Integer label) {
    this.file = file;
    this.label = label;
  }
}
