package org.hsvit.benchmark.app;

import static org.robolectric.Shadows.shadowOf;

import android.os.Looper;

/** The app's work in the background. */
final class Background {
  private Background() {}

  /** Waits for what was begun before, as it is done in order. */
  static void await(BenchmarkApplication app) throws InterruptedException {
    boolean[] done = new boolean[1];
    app.inBackground(() -> true, value -> done[0] = value);
    long end = System.nanoTime() + 20_000_000_000L;
    while (!done[0]) {
      if (System.nanoTime() > end) {
        throw new AssertionError("the work in the background did not end within 20 s");
      }
      Thread.sleep(2);
      shadowOf(Looper.getMainLooper()).idle();
    }
  }
}
