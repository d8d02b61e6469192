package org.hsvit.benchmark.app;

import android.net.Uri;
import android.util.Log;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.device.TfliteMetadata;

/** Adds files in the background, and keeps the result until a screen shows it, also when that is rotated. */
final class Additions {
  private final BenchmarkApplication app;
  private Runnable observer;
  private boolean busy;
  private String message;
  private List<Uri> question;
  private TfliteMetadata metadata = TfliteMetadata.NONE;

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

  /** What the files say of themselves that the user was asked for last. */
  TfliteMetadata metadata() {
    return metadata;
  }

  /** Adds what the user picked: a bundle in an archive at once, models after a question. */
  void open(List<Uri> files) {
    change(true, app.getString(R.string.adding));
    app.<Runnable>inBackground(
        () -> {
          Adding adding = new Adding(app, app.phone.isolation);
          try {
            String added = files.size() > 1 ? null : adding.addArchive(files.get(0));
            return added == null ? asking(files, adding.metadata(files)) : () -> change(false, added);
          } catch (Adding.Refusal refusal) {
            return () -> change(false, refusal.getMessage());
          }
        },
        Runnable::run);
  }

  /** What is to be done on the main thread when files are models, whose range the user has to say. */
  private Runnable asking(List<Uri> files, TfliteMetadata known) {
    return () -> {
      question = files;
      metadata = known;
      change(false, null);
    };
  }

  /** Adds models as one bundle. */
  void add(List<Uri> files, InputRange range, List<String> classNames) {
    change(true, app.getString(R.string.adding));
    app.unfinished().begin(app.getString(R.string.work_adding));
    app.inBackground(
        () -> {
          try {
            return new Adding(app, app.phone.isolation).add(files, range, classNames);
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
