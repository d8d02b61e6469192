package org.hsvit.benchmark.app;

import android.net.Uri;
import java.util.List;
import org.hsvit.benchmark.R;

/** Adds files beside the main thread, and keeps what came of it until a screen asks, however often turned. */
final class Additions {
  private final BenchmarkApplication app;
  private Runnable observer;
  private boolean busy;
  private String said;

  Additions(BenchmarkApplication app) {
    this.app = app;
  }

  /** Whether files are being added. */
  boolean isBusy() {
    return busy;
  }

  /** What to tell the user, once; null for nothing. */
  String takeSaid() {
    String text = said;
    said = null;
    return text;
  }

  /** Adds files as one bundle. */
  void add(List<Uri> files) {
    tell(true, app.getString(R.string.adding));
    app.inBackground(
        () -> {
          try {
            return new Adding(app, app.phone.describer).add(files);
          } catch (Adding.Refusal refusal) {
            return refusal.getMessage();
          }
        },
        result -> tell(false, result));
  }

  /**
   * @param observer told of changes, on the main thread; null for none
   */
  void observe(Runnable observer) {
    this.observer = observer;
  }

  private void tell(boolean nowBusy, String text) {
    busy = nowBusy;
    said = text;
    if (observer != null) {
      observer.run();
    }
  }
}
