package org.hsvit.benchmark.app;

import android.content.Context;
import java.io.File;
import java.util.List;

/** The folders of the app, which adb and file managers can read, too. */
final class Folders {
  private Folders() {}

  /** Has a folder for each bundle that was added. */
  static File bundles(Context context) {
    return of(context, "bundles");
  }

  /** Have a folder for each bundle: where adb pushes them, then where the app adds them if that is another. */
  static List<File> allBundles(Context context) {
    File own = bundles(context);
    File shared = context.getExternalFilesDir("bundles");
    return shared == null || shared.equals(own) ? List.of(own) : List.of(shared, own);
  }

  /** Has a JSON file for each run. */
  static File reports(Context context) {
    return of(context, "reports");
  }

  /** Has a file that tells how far the last run from a computer is. */
  static File runs(Context context) {
    return of(context, "runs");
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
    File folder = context.getExternalFilesDir(name); // null if not mounted
    // A folder that adb has made belongs to adb, and on some phones the app cannot write there.
    return folder != null && folder.canWrite() ? folder : new File(context.getFilesDir(), name);
  }
}
