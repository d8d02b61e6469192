package org.hsvit.benchmark.report;

import java.io.File;
import java.io.IOException;
import org.json.JSONObject;

/** Puts a report into the form of {@code export/benchmark.schema.json}. */
public final class ReportWriter {
  private ReportWriter() {}

  /**
   * The report as JSON.
   *
   * @throws IllegalArgumentException there is no finished pair: such a report would say nothing
   */
  public static JSONObject toJson(Report report) {
    throw new UnsupportedOperationException();
  }

  /**
   * Writes a report. The file is complete at every moment: it is written beside and then renamed.
   *
   * @throws IOException there is no room, or the folder cannot be written to
   */
  public static void write(Report report, File file) throws IOException {
    throw new UnsupportedOperationException();
  }
}
