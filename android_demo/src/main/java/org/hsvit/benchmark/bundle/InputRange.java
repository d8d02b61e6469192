package org.hsvit.benchmark.bundle;

/** The numbers that a black and a white pixel have in a model's input. */
public final class InputRange {
  public final double low;
  public final double high;

  /**
   * @throws IllegalArgumentException they are equal, or one is not finite
   */
  public InputRange(double low, double high) {
    if (!isValid(low, high)) {
      throw new IllegalArgumentException("low=" + low + ", high=" + high + " must be different numbers");
    }
    this.low = low;
    this.high = high;
  }

  static boolean isValid(double low, double high) {
    double width = Math.abs(high - low);
    return width > 0 && !Double.isInfinite(width); // NaN is not greater than 0
  }
}
