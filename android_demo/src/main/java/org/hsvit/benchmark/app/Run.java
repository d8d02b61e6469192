package org.hsvit.benchmark.app;

import android.util.Log;
import java.io.File;
import java.util.List;
import java.util.function.Consumer;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Progress;
import org.hsvit.benchmark.report.Report;
import org.hsvit.benchmark.report.Session;
import org.hsvit.benchmark.report.Session.Status;

/**
 * A run: its pairs, its progress, and how it ended.
 *
 * <p>It is used on the main thread. Only {@link #measure} runs on another, and posts its changes.
 */
final class Run {
  /** How a run ended. */
  static final class Ending {
    final Status status;

    /** Why it is not {@link Status#DONE}; empty if it is. */
    final String message;

    /** The report; null if there is none. */
    final File file;

    /** How many pairs were measured. */
    final int measured;

    Ending(Status status, String message, File file, int measured) {
      this.status = status;
      this.message = message;
      this.file = file;
      this.measured = measured;
    }
  }

  /** Its id, which is also the name of its report. */
  final String id;

  final List<Pair> pairs;
  private final Settings settings;
  private final Session session;
  private final File report;
  private Progress progress;
  private int measured;
  private Ending ending;
  private volatile String cancelReason;

  /**
   * @param report the file that the session writes
   */
  Run(String id, List<Pair> pairs, Settings settings, Session session, File report) {
    this.id = id;
    this.pairs = List.copyOf(pairs);
    this.settings = settings;
    this.session = session;
    this.report = report;
  }

  /** How far it is; null until it has begun. */
  Progress progress() {
    return progress;
  }

  /** What is being measured: a pair, with its accelerator but for the CPU. */
  String current() {
    int position = position();
    Accelerator accelerator = settings.accelerators.get(position / pairs.size());
    return pairs.get(position % pairs.size()).name + Report.on(accelerator);
  }

  /** Which of {@link #count} it is, from 0 on. */
  int position() {
    return progress == null ? 0 : progress.pair;
  }

  /** All pairs on all accelerators. */
  int count() {
    return pairs.size() * settings.accelerators.size();
  }

  /** Null until it ended. */
  Ending ending() {
    return ending;
  }

  /** Whether it was cancelled. */
  boolean isCancelled() {
    return cancelReason != null;
  }

  /** Ends it within one inference. Only the first reason is kept. */
  void cancel(String reason) {
    if (cancelReason == null) {
      cancelReason = reason;
    }
  }

  /**
   * Measures. For the measuring thread.
   *
   * @param main runs changes of this object, in order, on the main thread
   * @param changed called there after every change
   */
  void measure(Consumer<Runnable> main, Runnable changed) {
    Consumer<Runnable> change =
        update ->
            main.accept(
                () -> {
                  update.run();
                  changed.run();
                });
    Session.Watcher watcher =
        new Session.Watcher() {
          @Override
          public void onProgress(Progress now) {
            change.accept(() -> progress = now);
          }

          @Override
          public void onPair(Report soFar) {
            int count = soFar.results.size();
            change.accept(() -> measured = count);
          }

          @Override
          public String cancelReason() {
            return cancelReason;
          }
        };
    Ending end = measure(watcher);
    change.accept(() -> ending = end);
  }

  private Ending measure(Session.Watcher watcher) {
    try {
      Session.Outcome outcome = session.run(pairs, settings, watcher);
      return new Ending(
          outcome.status, outcome.message, outcome.file, outcome.report.results.size());
    } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
      // Otherwise the screen would wait for ever. Finished pairs are in the report.
      Log.e(Autorun.TAG, "run " + id, error);
      String message = "internal error of the app: " + error;
      return new Ending(Status.FAILED, message, report.isFile() ? report : null, measured);
    }
  }
}
