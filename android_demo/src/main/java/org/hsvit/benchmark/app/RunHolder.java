package org.hsvit.benchmark.app;

import android.os.Handler;
import android.os.Looper;
import java.io.File;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.PairMeasurer;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Session;

/** Holds the current or last run. It lives longer than the screens that show it. */
final class RunHolder {
  /** Called after changes, on the main thread. */
  interface Observer {
    void onRunChanged(Run run);
  }

  private final BenchmarkApplication app;
  private final Handler main = new Handler(Looper.getMainLooper());
  private final List<Observer> observers = new ArrayList<>();
  private Run run;

  RunHolder(BenchmarkApplication app) {
    this.app = app;
  }

  /** An id for a new run; later runs sort behind earlier ones. */
  static String newId() {
    return new SimpleDateFormat("yyyyMMdd-HHmmss", Locale.ROOT).format(new Date());
  }

  /** The current or last run, null if there was none. */
  Run run() {
    return run;
  }

  boolean isRunning() {
    return run != null && run.ending() == null;
  }

  /**
   * Starts a run on a thread of its own.
   *
   * @param key of the bundle in {@link Library}
   * @throws IllegalStateException another is in progress
   */
  Run start(String id, String key, Bundle bundle, List<Pair> pairs, Settings settings) {
    if (isRunning()) {
      throw new IllegalStateException("another run is in progress: " + run.id);
    }
    File report = new File(Folders.reports(app), id + ".json");
    Phone phone = app.phone;
    PairMeasurer measurer = MeasuringWork.measurer(phone, bundle, key);
    Session session = new Session(measurer, bundle, phone.device(), phone.machine, report);
    Run started = new Run(id, pairs, settings, session, report);
    run = started;
    app.unfinished().begin(app.getString(R.string.work_measuring, bundle.name()));
    new Thread(() -> started.measure(main::post, this::onChange), "measuring").start();
    notifyObservers();
    return started;
  }

  /** Cancels the current run, if there is one. */
  void cancel(String reason) {
    if (isRunning()) {
      run.cancel(reason);
      notifyObservers();
    }
  }

  void add(Observer observer) {
    observers.add(observer);
  }

  void remove(Observer observer) {
    observers.remove(observer);
  }

  private void onChange() {
    if (!isRunning()) {
      app.unfinished().end();
    }
    notifyObservers();
  }

  private void notifyObservers() {
    for (Observer observer : new ArrayList<>(observers)) {
      observer.onRunChanged(run);
    }
  }
}
