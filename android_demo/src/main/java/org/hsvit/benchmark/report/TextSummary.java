package org.hsvit.benchmark.report;

/** A report's main numbers as text to be shared. */
public final class TextSummary {
  private TextSummary() {}

  /** Some lines for each pair, and the warnings below. */
  public static String of(Report report) {
    throw new UnsupportedOperationException();
  }
}
