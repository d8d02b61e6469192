package org.hsvit.benchmark.app;

import android.content.Context;
import android.util.Log;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.hsvit.benchmark.report.WholeFile;

/** Remembers on disk what the app works at, so that its next start can tell what a crash has ended. */
final class Unfinished {
  private final File file;
  private final String left;

  Unfinished(Context context) {
    file = new File(context.getFilesDir(), "unfinished.txt");
    left = file.isFile() ? read() : null;
  }

  private String read() {
    try {
      return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    } catch (IOException error) {
      return null;
    }
  }

  /** What the app worked at when it ended the last time; null if it had finished. */
  String left() {
    return left;
  }

  /** Work begins; for the user, such as "measuring HSViT on digits". */
  void begin(String work) {
    try {
      WholeFile.write(file, work);
    } catch (IOException error) {
      Log.w(Autorun.TAG, "cannot remember: " + work, error); // the work itself may succeed all the same
    }
  }

  /** It is finished, or its failure was shown. */
  void end() {
    file.delete();
  }
}
