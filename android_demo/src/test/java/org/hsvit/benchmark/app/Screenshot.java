package org.hsvit.benchmark.app;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.view.View;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** Writes an activity, with its scrolled content, to {@code target/screenshots/NAME.png}. */
final class Screenshot {
  private Screenshot() {}

  /** Draws the window at the height of its content, or of the screen if that is more. */
  static void take(Activity activity, String name) throws IOException {
    View window = activity.getWindow().getDecorView();
    int width = activity.getResources().getDisplayMetrics().widthPixels;
    window.measure(exactly(width), View.MeasureSpec.makeMeasureSpec(0, View.MeasureSpec.UNSPECIFIED));
    int screen = activity.getResources().getDisplayMetrics().heightPixels;
    int height = Math.max(screen, window.getMeasuredHeight());
    window.measure(exactly(width), exactly(height));
    window.layout(0, 0, width, height);
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
