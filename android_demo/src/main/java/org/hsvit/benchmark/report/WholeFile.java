package org.hsvit.benchmark.report;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

/** Writes files that are complete at any time: a temporary file is written and then renamed. */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Writes a file, and makes its folder where there is none.
   *
   * @throws IOException there is no room, or the folder cannot be written to; the old file is unchanged
   */
  public static void write(File file, String text) throws IOException {
    Files.createDirectories(file.getParentFile().toPath());
    File temporary = new File(file.getParentFile(), "." + file.getName() + ".tmp");
    try {
      try (FileOutputStream stream = new FileOutputStream(temporary)) {
        stream.write(text.getBytes(StandardCharsets.UTF_8));
        stream.getFD().sync();
      }
      Files.move(temporary.toPath(), file.toPath(), StandardCopyOption.REPLACE_EXISTING);
    } finally {
      temporary.delete();
    }
  }
}
