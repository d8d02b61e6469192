package org.hsvit.benchmark.app;

import android.content.res.Resources;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Measure;
import org.hsvit.benchmark.measure.State;
import org.hsvit.benchmark.report.Warning;

/** A report in words: for the screen, for screen readers, and as text to share. */
final class ReportWords {
  /** A quantity of both models. */
  static final class Row {
    final String name;
    final String original;
    final String mobile;

    /** All of it as a sentence. */
    final String sentence;

    private Row(String name, String original, String mobile, String sentence) {
      this.name = name;
      this.original = original;
      this.mobile = mobile;
      this.sentence = sentence;
    }
  }

  private final Resources resources;

  ReportWords(Resources resources) {
    this.resources = resources;
  }

  /** Bundle, phone and settings. */
  String setup(SavedReport report) {
    StringJoiner lines = new StringJoiner("\n");
    if (report.data != null) {
      lines.add(report.data);
    }
    String os = orUnknown(report.osVersion);
    lines.add(resources.getString(R.string.results_device, orUnknown(report.device), os));
    lines.add(
        resources.getString(
            R.string.results_settings,
            orUnknown(report.accelerator).toUpperCase(Locale.ROOT),
            count(R.plurals.results_threads, report.threads),
            count(R.plurals.results_blocks, report.blocks),
            count(R.plurals.results_runs, report.runs)));
    if (report.runtimeVersion != null && report.runtimeVersion.startsWith("2.")) {
      lines.add(resources.getString(R.string.results_runtime, report.runtime, report.runtimeVersion));
    }
    return lines.toString();
  }

  /** Pairs that were not measured, and why the run ended early; empty if all went well. */
  List<String> failures(SavedReport report) {
    return warnings(report, true);
  }

  /** Everything else that limits the numbers. */
  List<String> warnings(SavedReport report) {
    return warnings(report, false);
  }

  private static List<String> warnings(SavedReport report, boolean failures) {
    List<String> found = new ArrayList<>();
    for (Warning warning : report.warnings) {
      if (failures == (warning.code.equals("failed") || warning.code.equals("stopped"))) {
        found.add(warning.toString());
      }
    }
    return found;
  }

  /** Names the models whose outputs are wrong; null if there are none. */
  String alarm(SavedReport.Compared pair) {
    List<String> wrong = new ArrayList<>();
    if (pair.original.wrong) {
      wrong.add(resources.getString(R.string.results_original));
    }
    if (pair.mobile.wrong) {
      wrong.add(pair.mobile.title());
    }
    return wrong.isEmpty() ? null : resources.getString(R.string.results_alarm, String.join(", ", wrong));
  }

  /** Whose speed it is, for people; null where outputs are wrong and a speed means nothing. */
  String headline(SavedReport.Compared pair) {
    if (pair.original.wrong || pair.mobile.wrong) {
      return null;
    }
    String name = pair.mobile.title();
    if (pair.low != null && pair.low <= 1 && pair.high >= 1) {
      return resources.getString(R.string.results_same_speed, name);
    }
    return pair.ratio < 1
        ? resources.getString(R.string.results_faster, name, Words.number(resources, 1 / pair.ratio))
        : resources.getString(R.string.results_slower, name, Words.number(resources, pair.ratio));
  }

  /** The ratio of the latencies. */
  String ratio(SavedReport.Compared pair) {
    String value = Words.number(resources, pair.ratio);
    if (pair.low == null) {
      return resources.getString(R.string.results_ratio_alone, value);
    }
    return resources.getString(
        R.string.results_ratio,
        value,
        Words.percent(resources, pair.confidence),
        Words.number(resources, pair.low),
        Words.number(resources, pair.high));
  }

  /** The quantities of both models. */
  List<Row> rows(SavedReport.Compared pair) {
    SavedReport.Model a = pair.original;
    SavedReport.Model b = pair.mobile;
    String[] percentiles = resources.getStringArray(R.array.results_percentiles);
    List<Row> rows = new ArrayList<>();
    rows.add(row(pair, percentiles[0], time(a.p50), time(b.p50)));
    rows.add(row(pair, percentiles[1], time(a.p90), time(b.p90)));
    rows.add(row(pair, percentiles[2], time(a.p99), time(b.p99)));
    rows.add(row(pair, text(R.string.results_first), time(a.firstInferenceMs), time(b.firstInferenceMs)));
    rows.add(row(pair, text(R.string.results_init), time(a.initMs), time(b.initMs)));
    rows.add(row(pair, text(R.string.results_size), size(a.bytes), size(b.bytes)));
    Measure metric = pair.task.metric;
    if (metric != null) {
      rows.add(row(pair, metric.title, value(metric, a.metric), value(metric, b.metric)));
    }
    rows.add(row(pair, text(R.string.results_outputs), outputs(a), outputs(b)));
    return rows;
  }

  private Row row(SavedReport.Compared pair, String name, String original, String mobile) {
    String sentence =
        resources.getString(R.string.results_row, name, original, pair.mobile.title(), mobile);
    return new Row(name, original, mobile, sentence);
  }

  private String outputs(SavedReport.Model model) {
    if (model.wrong) {
      return text(R.string.results_wrong);
    }
    return text(model.checked ? R.string.results_correct : R.string.results_not_checked);
  }

  /** How near the outputs are: the task's agreement, if it has one, and the largest difference. */
  String agreement(SavedReport.Compared pair) {
    if (pair.maxAbsDiff == null) {
      return text(R.string.results_not_compared);
    }
    StringJoiner lines = new StringJoiner("\n");
    String samples = count(R.plurals.results_samples, pair.samples);
    lines.add(resources.getString(R.string.results_compared, samples));
    Measure measure = pair.task.agreement;
    if (measure != null && pair.agreement != null) {
      String value = value(measure, pair.agreement);
      lines.add(resources.getString(R.string.results_agreement, measure.title, value));
    }
    String largest = Words.number(resources, pair.maxAbsDiff);
    return lines.add(resources.getString(R.string.results_difference, largest)).toString();
  }

  private String value(Measure measure, Double value) {
    return value == null ? text(R.string.results_unknown) : Words.measured(resources, measure, value);
  }

  /** Thermal state and battery, before and after. */
  String states(SavedReport.Compared pair) {
    State before = pair.before;
    State after = pair.after;
    String first = heat(before.thermalStatus);
    String heat = resources.getString(R.string.results_heat, first, heat(after.thermalStatus));
    String battery = resources.getString(R.string.results_battery, battery(before), battery(after));
    String charging = Boolean.TRUE.equals(after.charging) ? "\n" + text(R.string.results_charging) : "";
    return heat + "\n" + battery + charging;
  }

  private String heat(Integer status) {
    String[] names = resources.getStringArray(R.array.results_heat_names);
    boolean known = status != null && 0 <= status && status < names.length;
    return known ? names[status] : text(R.string.results_unknown);
  }

  private String battery(State state) {
    return state.batteryPercent == null
        ? text(R.string.results_unknown)
        : Words.percent(resources, state.batteryPercent / 100);
  }

  /** The bars, for screen readers. */
  String bars(SavedReport.Compared pair) {
    List<Row> rows = rows(pair);
    return resources.getString(
        R.string.results_bars, rows.get(0).sentence, rows.get(1).sentence, rows.get(2).sentence);
  }

  /** The histogram, for screen readers. */
  String histogram(SavedReport.Compared pair) {
    return resources.getString(
        R.string.results_histogram,
        spread(pair.original.samples),
        pair.mobile.title(),
        spread(pair.mobile.samples));
  }

  private String spread(double[] samples) {
    double least = Arrays.stream(samples).min().orElse(0);
    double most = Arrays.stream(samples).max().orElse(0);
    String runs = count(R.plurals.results_runs, samples.length);
    return resources.getString(R.string.results_spread, runs, time(least), time(most));
  }

  /** The whole report, to share. */
  String text(SavedReport report) {
    StringJoiner lines = new StringJoiner("\n", "", "\n");
    lines.add(setup(report));
    lines.add("").add(new OverviewWords(resources).text(Overview.of(report)));
    for (SavedReport.Compared pair : report.pairs) {
      lines.add("");
      if (alarm(pair) != null) {
        lines.add(alarm(pair));
      }
      if (headline(pair) != null) {
        lines.add(headline(pair));
      }
      lines.add(ratio(pair));
      rows(pair).forEach(row -> lines.add(row.sentence));
      lines.add(agreement(pair));
      lines.add(states(pair));
    }
    lines.add("");
    failures(report).forEach(lines::add);
    warnings(report).forEach(lines::add);
    return lines.toString();
  }

  private String count(int plurals, int number) {
    return Words.quantity(resources, plurals, number);
  }

  private String time(Double milliseconds) {
    return milliseconds == null
        ? text(R.string.results_unknown)
        : Words.milliseconds(resources, milliseconds);
  }

  private String size(Long bytes) {
    return bytes == null ? text(R.string.results_unknown) : Words.size(resources, bytes);
  }

  private String orUnknown(String value) {
    return value == null ? text(R.string.results_unknown) : value;
  }

  private String text(int string) {
    return resources.getString(string);
  }
}
