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
 * A run: what it measures, how far it is, how it ended.
 *
 * <p>It belongs to the main thread. Only {@link #measure} is for another, and hands over what it learns.
 */
final class Run {
  /** How a run ended. */
  static final class Ending {
    final Status status;

    /** Why it is not done; empty if it is. */
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

  /** Identifies it, and names its report. */
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

  /** Blocks so far, of all pairs. */
  int done() {
    return done;
  }

  /** Blocks in all. */
  int total() {
    return 2 * settings.blocks * pairs.size();
  }

  /** The pair that is measured now. */
  Pair current() {
    return pairs.get(Math.min(measured, pairs.size() - 1));
  }

  /** Null until it ended. */
  Ending ending() {
    return ending;
  }

  /** Whether it was asked to end early. */
  boolean isCancelled() {
    return cancelReason != null;
  }

  /** Ends it within one inference. The first reason stays. */
  void cancel(String reason) {
    if (cancelReason == null) {
      cancelReason = reason;
    }
  }

  /**
   * Measures. For the measuring thread.
   *
   * @param main runs what changes this run, in order, on the main thread
   * @param changed told there after every change
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
      // A screen that waits for ever is worse.
      Log.e(Autorun.TAG, "run " + id, error);
      return new Ending(Status.FAILED, "the app made a mistake: " + error, null, 0);
    }
  }
}
