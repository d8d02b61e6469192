package org.hsvit.benchmark.report;

import java.io.File;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Benchmark;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.Settings;

/** Measures pair after pair. After each, the report of all finished ones is on disk. */
public final class Session {
  /** How a session ended. */
  public enum Status {
    /** All pairs are measured. */
    DONE,
    /** The listener ended it; finished pairs are in the report. */
    CANCELLED,
    /** At least one pair could not be measured, the others are in the report. */
    FAILED
  }

  /** What came of a session. */
  public static final class Outcome {
    public final Status status;

    /** Why it is not done; empty if it is. */
    public final String message;

    /** The results. */
    public final Report report;

    /** The report's file; null if no pair was finished, or it could not be written. */
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

  /**
   * @param file where the report goes
   */
  public Session(Benchmark benchmark, Device device, File file) {
    this.benchmark = benchmark;
    this.device = device;
    this.file = file;
  }

  /**
   * Measures. Not for the main thread. A pair that cannot be measured does not keep the others from it.
   *
   * @param pairs what to measure, in this order
   * @param cancelReason asked once if the listener ends the session: what the report says, such as "stopped:
   *     app left the foreground"
   * @param finished hears of the results after each pair, by the measuring thread
   */
  public Outcome run(
      List<Pair> pairs,
      Settings settings,
      Listener listener,
      Supplier<String> cancelReason,
      Consumer<Report> finished) {
    throw new UnsupportedOperationException();
  }
}
