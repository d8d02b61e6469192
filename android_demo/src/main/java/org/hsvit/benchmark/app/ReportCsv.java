package org.hsvit.benchmark.app;

import java.util.Arrays;
import java.util.Locale;

/** A report as comma-separated values (RFC 4180): a line for each model of each pair, the original first. */
final class ReportCsv {
  private static final String[] COLUMNS = {
    "device", "android", "accelerator", "threads", "pair", "role", "model", "bytes", "p50_ms", "p90_ms",
    "p99_ms", "init_ms", "first_inference_ms", "ratio", "ratio_low", "ratio_high", "agreement", "outputs"
  };

  private final StringBuilder lines = new StringBuilder();
  private final SavedReport report;

  private ReportCsv(SavedReport report) {
    this.report = report;
  }

  /** The text of a report, with a heading. */
  static String text(SavedReport report) {
    ReportCsv csv = new ReportCsv(report);
    csv.line((Object[]) COLUMNS);
    for (int i = 0; i < report.pairs.size(); i++) {
      SavedReport.Compared pair = report.pairs.get(i);
      csv.line(i + 1, "original", pair.original, null, null, null, null);
      csv.line(i + 1, "mobile", pair.mobile, pair.ratio, pair.low, pair.high, pair.agreement);
    }
    return csv.lines.toString();
  }

  private void line(
      int pair, String role, SavedReport.Model model, Double ratio, Double low, Double high, Double agreement) {
    line(
        report.device, report.osVersion, model.accelerator, report.threads, pair, role, model.name, model.bytes,
        model.p50, model.p90, model.p99, model.initMs, model.firstInferenceMs, ratio, low, high, agreement,
        model.wrong ? "wrong" : model.checked ? "correct" : "not checked");
  }

  private void line(Object... cells) {
    String[] texts = Arrays.stream(cells).map(ReportCsv::cell).toArray(String[]::new);
    lines.append(String.join(",", texts)).append("\r\n");
  }

  /** A cell; numbers with a point, whatever the phone's language is, and nothing for null. */
  private static String cell(Object value) {
    if (value instanceof Double) {
      return String.format(Locale.ROOT, "%.6g", value);
    }
    String text = value == null ? "" : value.toString();
    boolean plain = text.matches("[^\",\r\n]*");
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
