package org.hsvit.benchmark.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as text, as Python writes them, whatever the language of the phone. */
final class Numbers {
  private Numbers() {}

  /** With a fixed number of digits after the point. */
  static String fixed(double value, int digits) {
    return new BigDecimal(value).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** With up to three significant digits. */
  static String short3(double value) {
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(3, RoundingMode.HALF_EVEN));
    return rounded.stripTrailingZeros().toPlainString();
  }
}
