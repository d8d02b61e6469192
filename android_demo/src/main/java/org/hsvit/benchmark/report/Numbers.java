package org.hsvit.benchmark.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as text, the same in every language of the phone and as Python writes them. */
final class Numbers {
  private Numbers() {}

  /** With so many digits after the point. */
  static String fixed(double value, int digits) {
    return new BigDecimal(value).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** With up to three digits that count. */
  static String short3(double value) {
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(3, RoundingMode.HALF_EVEN));
    return rounded.stripTrailingZeros().toPlainString();
  }
}
