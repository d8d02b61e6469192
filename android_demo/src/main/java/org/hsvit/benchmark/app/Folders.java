package org.hsvit.benchmark.app;

import android.content.Context;
import java.io.File;

/** The folders of the app, which adb and file managers can read, too. */
final class Folders {
  private Folders() {}

  /** Has a folder for each bundle that was pushed or added. */
  static File bundles(Context context) {
    return of(context, "bundles");
  }

  /** Has a JSON file for each run. */
  static File reports(Context context) {
    return of(context, "reports");
  }

  /** Deletes a file, or a folder and everything in it. */
  static void delete(File file) {
    File[] files = file.listFiles();
    if (files != null) {
      for (File inner : files) {
        delete(inner);
      }
    }
    file.delete();
  }

  private static File of(Context context, String name) {
    File folder = context.getExternalFilesDir(name);
    return folder == null ? new File(context.getFilesDir(), name) : folder; // null if not mounted
  }
}
