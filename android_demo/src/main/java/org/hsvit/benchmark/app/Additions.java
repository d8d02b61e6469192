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
  private List<Uri> question;

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

  /** Files whose input range the user has to be asked for, given once; null for none. */
  List<Uri> takeQuestion() {
    List<Uri> taken = question;
    question = null;
    return taken;
  }

  /** Adds what the user picked: a bundle in an archive at once, models after a question. */
  void open(List<Uri> files) {
    change(true, app.getString(R.string.adding));
    app.inBackground(
        () -> {
          try {
            return files.size() > 1 ? null : new Adding(app, app.phone.isolation).addArchive(files.get(0));
          } catch (Adding.Refusal refusal) {
            return refusal.getMessage();
          }
        },
        result -> {
          question = result == null ? files : null;
          change(false, result);
        });
  }

  /** Adds models as one bundle. */
  void add(List<Uri> files, InputRange range) {
    change(true, app.getString(R.string.adding));
    app.unfinished().begin(app.getString(R.string.work_adding));
    app.inBackground(
        () -> {
          try {
            return new Adding(app, app.phone.isolation).add(files, range);
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
