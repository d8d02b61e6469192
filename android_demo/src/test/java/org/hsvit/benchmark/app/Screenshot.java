package org.hsvit.benchmark.app;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.util.DisplayMetrics;
import android.view.View;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** Lays an activity out and, with {@code -Dscreenshots=true}, draws it to {@code target/screenshots/NAME.png}. */
final class Screenshot {
  static final boolean ARE_TAKEN = Boolean.getBoolean("screenshots");

  private Screenshot() {}

  /** Shows the window at the height of its content, or of the screen if that is more. */
  static void take(Activity activity, String name) throws IOException {
    View window = activity.getWindow().getDecorView();
    int width = activity.getResources().getDisplayMetrics().widthPixels;
    window.measure(exactly(width), View.MeasureSpec.makeMeasureSpec(0, View.MeasureSpec.UNSPECIFIED));
    int screen = activity.getResources().getDisplayMetrics().heightPixels;
    show(window, width, Math.max(screen, window.getMeasuredHeight()), name);
  }

  /** Shows what the screen has room for. */
  static void takeScreen(Activity activity, String name) throws IOException {
    DisplayMetrics screen = activity.getResources().getDisplayMetrics();
    show(activity.getWindow().getDecorView(), screen.widthPixels, screen.heightPixels, name);
  }

  private static void show(View window, int width, int height, String name) throws IOException {
    window.measure(exactly(width), exactly(height));
    window.layout(0, 0, width, height);
    if (!ARE_TAKEN) {
      return;
    }
    Bitmap bitmap = Bitmap.createBitmap(width, height, Bitmap.Config.ARGB_8888);
    window.draw(new Canvas(bitmap));
    File file = new File("target/screenshots/" + name + ".png");
    file.getParentFile().mkdirs();
    try (FileOutputStream stream = new FileOutputStream(file)) {
      bitmap.compress(Bitmap.CompressFormat.PNG, 100, stream);
    }
  }

  private static int exactly(int pixels) {
    return View.MeasureSpec.makeMeasureSpec(pixels, View.MeasureSpec.EXACTLY);
  }
}
