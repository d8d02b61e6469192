package org.hsvit.benchmark.report;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.AcceleratorException;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.Machine;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.PairMeasurer;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Settings;

/** Measures pair after pair on each accelerator, and writes the report of all finished pairs after each. */
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

  /** Follows a session, on the measuring thread. */
  public interface Watcher {
    /** A pair is begun or over, a block is timed, or an output is checked. */
    void onProgress(Progress progress);

    /** A pair is measured, or failed; the report of those so far is written. */
    void onPair(Report report);

    /** Why to stop, for the report, such as "the app left the foreground"; null to go on. */
    String cancelReason();
  }

  private final PairMeasurer measurer;
  private final Bundle bundle;
  private final Device device;
  private final Machine machine;
  private final File file;
  private final List<PairResult> results = new ArrayList<>();
  private final List<Warning> failures = new ArrayList<>();
  private boolean written;

  /**
   * @param bundle has the pairs
   * @param machine its clock decides how long the pairs may take
   * @param file where the report goes
   */
  public Session(PairMeasurer measurer, Bundle bundle, Device device, Machine machine, File file) {
    this.measurer = measurer;
    this.bundle = bundle;
    this.device = device;
    this.machine = machine;
    this.file = file;
  }

  /**
   * Measures, once. Not for the main thread. If a pair cannot be measured, the others still are.
   *
   * @param pairs what to measure, in this order
   */
  public Outcome run(List<Pair> pairs, Settings settings, Watcher watcher) {
    Status status;
    try {
      status = measure(pairs, settings, watcher);
    } catch (IOException error) {
      String message = "cannot write the report " + file + ": " + error.getMessage();
      return new Outcome(Status.FAILED, message, report(settings), written ? file : null);
    }
    String message = failures.isEmpty() ? "" : failures.get(failures.size() - 1).toString();
    return new Outcome(status, message, report(settings), written ? file : null);
  }

  private Status measure(List<Pair> pairs, Settings settings, Watcher watcher) throws IOException {
    int count = pairs.size() * settings.accelerators.size();
    Pace pace = new Pace(machine, settings, pairs, bundle.images().size());
    Set<Accelerator> missing = EnumSet.noneOf(Accelerator.class);
    try {
      for (int i = 0; i < count; i++) {
        Accelerator accelerator = settings.accelerators.get(i / pairs.size());
        watcher.onProgress(pace.begin(i));
        if (!missing.contains(accelerator)) {
          Pair pair = pairs.get(i % pairs.size());
          Share share = new Share(watcher, pace, i);
          if (!measure(pair, settings.on(accelerator), pace.limitMs(i), share)) {
            missing.add(accelerator);
          }
          keep(settings);
        }
        watcher.onProgress(pace.end(i));
        watcher.onPair(report(settings));
      }
      return failures.isEmpty() ? Status.DONE : Status.FAILED;
    } catch (CancelledException error) {
      failures.add(new Warning("stopped", null, stopped(watcher.cancelReason(), count)));
      keep(settings);
      return Status.CANCELLED;
    }
  }

  /** Measures a pair; returns whether other pairs may run on its accelerator. */
  private boolean measure(Pair pair, Settings settings, long limitMs, Listener listener)
      throws CancelledException {
    String name = pair.name + Report.on(settings.accelerator());
    try {
      results.add(measurer.measure(pair, settings, limitMs, listener));
    } catch (AcceleratorException error) {
      String message = "nothing was measured on the " + error.accelerator.name() + ": " + error.getMessage();
      failures.add(new Warning("failed", null, message));
      return false;
    } catch (ModelException error) {
      fail(name, error.file, error.getMessage());
    } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
      fail(name, null, error instanceof OutOfMemoryError ? "out of memory" : "internal error: " + error);
    }
    return true;
  }

  private void fail(String pair, String model, String reason) {
    failures.add(new Warning("failed", model, "pair " + pair + " was not measured: " + reason));
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
    return new Report(bundle, settings, device, results, failures);
  }

  /** Progress of one pair as progress of the session. */
  private static final class Share implements Listener {
    private final Watcher watcher;
    private final Pace pace;
    private final int position;

    Share(Watcher watcher, Pace pace, int position) {
      this.watcher = watcher;
      this.pace = pace;
      this.position = position;
    }

    @Override
    public void onProgress(Phase phase, int done, int total) {
      watcher.onProgress(pace.step(position, phase, done));
    }

    @Override
    public boolean isCancelled() {
      return watcher.cancelReason() != null;
    }
  }
}
