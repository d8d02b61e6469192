package org.hsvit.benchmark.app;

import android.util.Log;
import java.io.File;
import java.util.List;
import java.util.function.Consumer;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.Settings;
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
  private int done;
  private int measured;
  private Ending ending;
  private volatile String cancelReason;

  Run(String id, List<Pair> pairs, Settings settings, Session session) {
    this.id = id;
    this.pairs = List.copyOf(pairs);
    this.settings = settings;
    this.session = session;
  }

  /** Finished blocks, of all pairs. */
  int done() {
    return done;
  }

  /** All blocks. */
  int total() {
    return 2 * settings.blocks * pairs.size();
  }

  /** The pair that is being measured. */
  Pair current() {
    return pairs.get(Math.min(measured, pairs.size() - 1));
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
    Listener listener =
        new Listener() {
          @Override
          public void onProgress(int blocks, int total) {
            main.accept(
                () -> {
                  done = blocks;
                  changed.run();
                });
          }

          @Override
          public boolean isCancelled() {
            return Run.this.isCancelled();
          }
        };
    Ending end = measure(listener, main, changed);
    main.accept(
        () -> {
          ending = end;
          changed.run();
        });
  }

  private Ending measure(Listener listener, Consumer<Runnable> main, Runnable changed) {
    try {
      Session.Outcome outcome =
          session.run(
              pairs,
              settings,
              listener,
              () -> cancelReason,
              report ->
                  main.accept(
                      () -> {
                        measured++;
                        changed.run();
                      }));
      return new Ending(
          outcome.status, outcome.message, outcome.file, outcome.report.results.size());
    } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
      // Otherwise the screen would wait for ever.
      Log.e(Autorun.TAG, "run " + id, error);
      return new Ending(Status.FAILED, "internal error of the app: " + error, null, 0);
    }
  }
}
