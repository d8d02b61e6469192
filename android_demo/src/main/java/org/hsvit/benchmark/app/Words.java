package org.hsvit.benchmark.app;

import android.content.res.Resources;
import java.math.BigDecimal;
import java.math.MathContext;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Measure;

/** Numbers in the language of the app's texts, with three significant digits. */
final class Words {
  private static final double MB = 1e6;

  /** Font scale up to which several columns fit. */
  private static final float LARGE = 1.4f;

  /** Where a name may be broken: behind these characters, but not within numbers and before a suffix. */
  private static final Pattern JOINT =
      Pattern.compile("(?<=[\\p{L}\\p{N}])(_|-(?=\\p{L})|(?<=\\S{16})\\.(?=\\p{L}))");

  /** The space between a number and its unit. */
  private static final Pattern UNIT = Pattern.compile("(?<=\\d) (?=(ms|bytes|kB|MB)\\b)");

  private Words() {}

  /** Whether letters are so large that numbers have to stand below each other. */
  static boolean areLarge(Resources resources) {
    return resources.getConfiguration().fontScale > LARGE;
  }

  /** A text for the screen: names such as calibrated_imagenet_int8 may be broken, a number keeps its unit. */
  static String wrapped(String text) {
    return text == null ? null : UNIT.matcher(JOINT.matcher(text).replaceAll("$1\u200B")).replaceAll("\u00A0");
  }

  static String count(Resources resources, int value) {
    return NumberFormat.getInstance(locale(resources)).format(value);
  }

  /** A text with a count: its first argument is the count, the others follow. */
  static String quantity(Resources resources, int plurals, int value, String... named) {
    List<String> places = new ArrayList<>(List.of(count(resources, value)));
    Collections.addAll(places, named);
    return resources.getQuantityString(plurals, value, places.toArray());
  }

  static String milliseconds(Resources resources, double value) {
    return resources.getString(R.string.number_ms, number(resources, value));
  }

  /** Such as 26 bytes, 3.42 kB, 1.5 MB. */
  static String size(Resources resources, long bytes) {
    if (bytes < 1000) {
      return resources.getString(R.string.number_bytes, number(resources, bytes));
    }
    return bytes < MB
        ? resources.getString(R.string.number_kb, number(resources, bytes / 1000.0))
        : resources.getString(R.string.number_mb, number(resources, bytes / MB));
  }

  /** A share from 0 to 1 in percent. */
  static String percent(Resources resources, double share) {
    NumberFormat format = NumberFormat.getPercentInstance(locale(resources));
    format.setMaximumFractionDigits(1);
    return format.format(share);
  }

  /** What went wrong, in one line. */
  static String problem(Throwable error) {
    if (error instanceof OutOfMemoryError) {
      return "out of memory";
    }
    return error.getMessage() == null ? error.toString() : error.getMessage();
  }

  /** A value of a task's measure. */
  static String measured(Resources resources, Measure measure, double value) {
    return measure.isShare ? percent(resources, value) : number(resources, value);
  }

  /** A round number at an axis. */
  static String tick(Resources resources, double value) {
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(3)).stripTrailingZeros();
    NumberFormat format = NumberFormat.getInstance(locale(resources));
    format.setMaximumFractionDigits(Math.max(0, rounded.scale()));
    return format.format(rounded);
  }

  static String number(Resources resources, double value) {
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(3));
    NumberFormat format = NumberFormat.getInstance(locale(resources));
    int digits = Math.max(0, rounded.scale()); // zeros at the end are significant
    format.setMinimumFractionDigits(digits);
    format.setMaximumFractionDigits(digits);
    return format.format(rounded);
  }

  private static Locale locale(Resources resources) {
    return Locale.forLanguageTag(resources.getString(R.string.language));
  }
}
