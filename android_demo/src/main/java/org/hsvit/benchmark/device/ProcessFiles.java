package org.hsvit.benchmark.device;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.hsvit.benchmark.measure.Memory;

/** What Linux tells of processes and threads, in files such as /proc/self/status. */
final class ProcessFiles {
  private static final int KILO = 1024;

  private ProcessFiles() {}

  /** The memory that a status file tells; null where it cannot be read. */
  static Memory memory(File status) {
    String resident = field(status, "VmRSS");
    String peak = field(status, "VmHWM");
    return resident == null || peak == null ? null : new Memory(bytes(resident), bytes(peak));
  }

  private static long bytes(String text) {
    return KILO * Long.parseLong(text.replace(" kB", ""));
  }

  /** A field of a status file; null where it has none, or cannot be read. */
  static String field(File status, String name) {
    try {
      for (String line : Files.readAllLines(status.toPath(), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith(name + ":")) {
          return line.substring(name.length() + 1).trim();
        }
      }
      return null;
    } catch (IOException error) {
      return null; // the thread has ended, or this phone does not let apps read it
    }
  }
}
