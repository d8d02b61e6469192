package org.hsvit.benchmark.report;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Benchmark;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Settings;

/** Measures pair after pair, and writes the report of all finished pairs after each. */
public final class Session {
  /** How a session ended. */
  public enum Status {
    /** All pairs are measured. */
    DONE,
    /** The listener cancelled it; finished pairs are in the report. */
    CANCELLED,
    /** A pair could not be measured, or the report could not be written. Other pairs are in the report. */
    FAILED
  }

  /** The result of a session. */
  public static final class Outcome {
    public final Status status;

    /** Why it is not {@link Status#DONE}; empty if it is. */
    public final String message;

    /** The results. */
    public final Report report;

    /** The report's file; null if no pair was finished, or the report could not be written. */
    public final File file;

    Outcome(Status status, String message, Report report, File file) {
      this.status = status;
      this.message = message;
      this.report = report;
      this.file = file;
    }
  }

  private final Benchmark benchmark;
  private final Device device;
  private final File file;
  private final List<PairResult> results = new ArrayList<>();
  private final List<Warning> failures = new ArrayList<>();
  private boolean written;

  /**
   * @param file where the report goes
   */
  public Session(Benchmark benchmark, Device device, File file) {
    this.benchmark = benchmark;
    this.device = device;
    this.file = file;
  }

  /**
   * Measures, once. Not for the main thread. If a pair cannot be measured, the others still are.
   *
   * @param pairs what to measure, in this order
   * @param cancelReason gives the reason for the report if the listener cancels, such as "the app left the
   *     foreground"
   * @param finished receives the report after each pair, on the measuring thread
   */
  public Outcome run(
      List<Pair> pairs,
      Settings settings,
      Listener listener,
      Supplier<String> cancelReason,
      Consumer<Report> finished) {
    Status status;
    try {
      status = measure(pairs, settings, listener, cancelReason, finished);
    } catch (IOException error) {
      String message = "cannot write the report " + file + ": " + error.getMessage();
      return new Outcome(Status.FAILED, message, report(settings), written ? file : null);
    }
    String message = failures.isEmpty() ? "" : failures.get(failures.size() - 1).toString();
    return new Outcome(status, message, report(settings), written ? file : null);
  }

  private Status measure(
      List<Pair> pairs,
      Settings settings,
      Listener listener,
      Supplier<String> cancelReason,
      Consumer<Report> finished)
      throws IOException {
    try {
      for (int i = 0; i < pairs.size(); i++) {
        measure(pairs.get(i), settings, new Share(listener, i, pairs.size(), 2 * settings.blocks));
        keep(settings);
        finished.accept(report(settings));
      }
      return failures.isEmpty() ? Status.DONE : Status.FAILED;
    } catch (CancelledException error) {
      failures.add(new Warning("stopped", null, stopped(cancelReason.get(), pairs.size())));
      keep(settings);
      return Status.CANCELLED;
    }
  }

  private void measure(Pair pair, Settings settings, Listener listener) throws CancelledException {
    try {
      results.add(benchmark.run(pair, settings, listener));
    } catch (ModelException error) {
      String message = "pair " + pair.name + " was not measured: " + error.getMessage();
      failures.add(new Warning("failed", error.file, message));
    }
  }

  private String stopped(String reason, int pairs) {
    return "stopped: " + reason + "; " + results.size() + " of " + pairs + " pairs were measured";
  }

  private void keep(Settings settings) throws IOException {
    if (!results.isEmpty()) {
      ReportWriter.write(report(settings), file);
      written = true;
    }
  }

  private Report report(Settings settings) {
    return new Report(benchmark.bundle(), settings, device, results, failures);
  }

  /** Progress of one pair as progress of the session. */
  private static final class Share implements Listener {
    private final Listener all;
    private final int position;
    private final int pairs;
    private final int blocks;

    Share(Listener all, int position, int pairs, int blocks) {
      this.all = all;
      this.position = position;
      this.pairs = pairs;
      this.blocks = blocks;
    }

    @Override
    public void onProgress(int done, int total) {
      all.onProgress(position * blocks + done, pairs * blocks);
    }

    @Override
    public boolean isCancelled() {
      return all.isCancelled();
    }
  }
}
