package org.hsvit.benchmark.app;

import android.content.res.Resources;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.StringJoiner;
import org.hsvit.benchmark.R;

/** Two reports side by side, in words: what was set otherwise, then each pair that is in both. */
final class ReportComparison {
  private final Resources resources;

  ReportComparison(Resources resources) {
    this.resources = resources;
  }

  /**
   * The comparison.
   *
   * @param first the report that the second is compared with, such as one of an earlier day
   */
  String text(SavedReport first, SavedReport second) {
    StringJoiner paragraphs = new StringJoiner("\n\n");
    List<String> differences = differences(first, second);
    if (!differences.isEmpty()) {
      paragraphs.add(
          resources.getString(R.string.compare_settings) + "\n" + String.join("\n", differences));
    }
    boolean any = false;
    for (SavedReport.Compared pair : second.pairs) {
      SavedReport.Compared same = same(pair, first);
      if (same != null) {
        any = true;
        paragraphs.add(pair(same, pair));
      }
    }
    return any ? paragraphs.toString() : resources.getString(R.string.compare_nothing);
  }

  private List<String> differences(SavedReport first, SavedReport second) {
    List<String> found = new ArrayList<>();
    add(found, R.string.compare_phone, first.device, second.device);
    add(found, R.string.compare_android, first.osVersion, second.osVersion);
    add(found, R.string.compare_accelerator, first.accelerator, second.accelerator);
    add(found, R.string.compare_threads, first.threads, second.threads);
    return found;
  }

  private void add(List<String> found, int name, Object first, Object second) {
    if (!Objects.equals(first, second)) {
      found.add(changed(name, String.valueOf(first), String.valueOf(second)));
    }
  }

  private static SavedReport.Compared same(SavedReport.Compared pair, SavedReport report) {
    for (SavedReport.Compared other : report.pairs) {
      if (other.mobile.name.equals(pair.mobile.name) && other.original.name.equals(pair.original.name)) {
        return other;
      }
    }
    return null;
  }

  private String pair(SavedReport.Compared first, SavedReport.Compared second) {
    String title =
        resources.getString(R.string.results_pair, second.mobile.name, second.original.name);
    return String.join(
        "\n",
        title,
        latency(first.original, second.original),
        latency(first.mobile, second.mobile),
        changed(R.string.compare_ratio, ratio(first), ratio(second)));
  }

  private String latency(SavedReport.Model first, SavedReport.Model second) {
    String name = second.title();
    if (first.wrong || second.wrong) {
      return resources.getString(R.string.compare_wrong, name);
    }
    String times = resources.getString(R.string.compare_times, number(second.p50 / first.p50, 2));
    return resources.getString(
        R.string.compare_latency, name, number(first.p50, 3), number(second.p50, 3), times);
  }

  private String ratio(SavedReport.Compared pair) {
    if (pair.low == null || pair.high == null) {
      return number(pair.ratio, 3);
    }
    return resources.getString(
        R.string.compare_interval, number(pair.ratio, 3), number(pair.low, 3), number(pair.high, 3));
  }

  private String changed(int name, String first, String second) {
    return resources.getString(R.string.compare_changed, resources.getString(name), first, second);
  }

  private String number(double value, int digits) {
    Locale locale = Locale.forLanguageTag(resources.getString(R.string.language));
    return String.format(locale, "%." + digits + "f", value);
  }
}
