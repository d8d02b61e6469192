package org.hsvit.benchmark.report;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.StringJoiner;
import org.hsvit.benchmark.measure.Agreement;
import org.hsvit.benchmark.measure.ModelResult;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Ratio;
import org.hsvit.benchmark.measure.ReferenceCheck;
import org.hsvit.benchmark.measure.State;

/** A report's main numbers as text to be shared, in English as the report is. */
public final class TextSummary {
  private TextSummary() {}

  /** Some lines for each pair, and the warnings below. */
  public static String of(Report report) {
    StringJoiner lines = new StringJoiner("\n", "", "\n");
    Device device = report.device;
    lines.add("Benchmark of " + report.bundle.name());
    lines.add(device.name + ", Android " + device.osVersion + ", " + device.architecture);
    lines.add(settings(report));
    for (PairResult result : report.results) {
      lines.add("");
      lines.add(result.pair.name + ": " + files(result));
      lines.add("  " + time(result.after.time));
      lines.add("  time " + ratio(result.ratio));
      lines.add("  original: " + model(result.original));
      lines.add("  mobile:   " + model(result.mobile));
      lines.add("  " + agreement(result.agreement));
      lines.add("  " + states(result.before, result.after));
    }
    if (!report.warnings().isEmpty()) {
      lines.add("");
    }
    for (Warning warning : report.warnings()) {
      lines.add("warning: " + warning);
    }
    return lines.toString();
  }

  private static String settings(Report report) {
    return String.format(
        Locale.ROOT,
        "asked for %s, %s; %d alternating blocks of %d runs after %d uncounted, pauses of %s s",
        report.settings.accelerator.toString().toUpperCase(Locale.ROOT),
        report.settings.threads == 1 ? "1 thread" : report.settings.threads + " threads",
        report.settings.blocks,
        report.settings.runs,
        report.settings.warmup,
        Numbers.short3(report.settings.cooldownMs / 1000.0));
  }

  private static String files(PairResult result) {
    return result.mobile.model.file + " against " + result.original.model.file;
  }

  private static String time(long milliseconds) {
    return Instant.ofEpochMilli(milliseconds).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** Such as {@code x 0.512 [0.501, 0.533]}. */
  private static String ratio(Ratio ratio) {
    String interval =
        ratio.low == null
            ? "no interval"
            : Numbers.fixed(ratio.low, 3) + ", " + Numbers.fixed(ratio.high, 3);
    return "x " + Numbers.fixed(ratio.value, 3) + " [" + interval + "]";
  }

  private static String model(ModelResult result) {
    return String.format(
        Locale.ROOT,
        "p50 %s, p90 %s, p99 %s ms; %s kB; loading %s, first run %s ms; %s%s",
        Numbers.short3(result.latency.p50),
        Numbers.short3(result.latency.p90),
        Numbers.short3(result.latency.p99),
        Numbers.short3(result.model.bytes / 1000.0),
        Numbers.short3(result.initMs),
        Numbers.short3(result.firstInferenceMs),
        answers(result),
        result.accuracy == null ? "" : ", accuracy " + Numbers.percent(result.accuracy));
  }

  private static String answers(ModelResult result) {
    ReferenceCheck check = result.reference;
    if (result.isWrong()) {
      return "WRONG ANSWERS";
    }
    return check == null ? "answers not checked" : "answers right";
  }

  private static String agreement(Agreement agreement) {
    if (agreement == null) {
      return "agreement is not known";
    }
    String share = Numbers.percent(agreement.top1Agreement);
    return "same answer to " + share + " of " + agreement.images + " images";
  }

  private static String states(State before, State after) {
    return String.format(
        Locale.ROOT,
        "thermal status %s, battery %s",
        change(before.thermalStatus, after.thermalStatus, ""),
        change(before.batteryPercent, after.batteryPercent, " %"));
  }

  private static String change(Number before, Number after, String unit) {
    if (before == null || after == null) {
      return "unknown";
    }
    String from = Numbers.fixed(before.doubleValue(), 0);
    return from + " -> " + Numbers.fixed(after.doubleValue(), 0) + unit;
  }
}
