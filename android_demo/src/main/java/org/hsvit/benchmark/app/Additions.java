package org.hsvit.benchmark.app;

import android.net.Uri;
import android.util.Log;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.InputRange;

/** Adds files in the background, and keeps the result until a screen shows it, also when that is rotated. */
final class Additions {
  private final BenchmarkApplication app;
  private Runnable observer;
  private boolean busy;
  private String message;

  Additions(BenchmarkApplication app) {
    this.app = app;
  }

  /** Whether files are being added. */
  boolean isBusy() {
    return busy;
  }

  /** The latest message for the user, given once; null for none. */
  String takeMessage() {
    String taken = message;
    message = null;
    return taken;
  }

  /** Adds files as one bundle. */
  void add(List<Uri> files, InputRange range) {
    change(true, app.getString(R.string.adding));
    app.unfinished().begin(app.getString(R.string.work_adding));
    app.inBackground(
        () -> {
          try {
            return new Adding(app, app.phone.describer).add(files, range);
          } catch (Adding.Refusal refusal) {
            return refusal.getMessage();
          } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
            Log.e(Autorun.TAG, "adding models", error);
            return app.getString(R.string.add_failed, Words.problem(error));
          } finally {
            app.unfinished().end();
          }
        },
        result -> change(false, result));
  }

  /**
   * @param observer called after changes, on the main thread; null for none
   */
  void observe(Runnable observer) {
    this.observer = observer;
  }

  private void change(boolean nowBusy, String text) {
    busy = nowBusy;
    message = text;
    if (observer != null) {
      observer.run();
    }
  }
}
