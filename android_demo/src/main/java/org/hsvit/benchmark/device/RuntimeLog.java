package org.hsvit.benchmark.device;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hsvit.benchmark.bundle.Delegation;

/** What TensorFlow Lite writes into the phone's log, of which an app can read its own lines. */
final class RuntimeLog {
  /** Gives the lines of this process. */
  interface Lines {
    List<String> read() throws IOException;
  }

  private static final Pattern TAKEN =
      Pattern.compile("Replacing (\\d+) out of (\\d+) node\\(s\\) with delegate \\((\\w+)\\)");
  /** A part of XNNPACK's name in the log. */
  static final String CPU = "XNNPack";

  private static final int TRIES = 5;
  private static final int PAUSE_MS = 40; // until what was logged can be read

  private RuntimeLog() {}

  /**
   * How much of the graph that was loaded last its delegate runs.
   *
   * @param delegate a part of its name in the log, such as {@code XNNPack}
   * @param before lines that the log had before that graph was loaded
   * @param planLength nodes that run one after the other, with each piece of the delegate as one
   * @return null where the log does not tell
   */
  static Delegation delegation(Lines log, int before, String delegate, int planLength) {
    try {
      for (int i = 0; i < TRIES; i++) {
        Delegation found = parse(since(before, log.read()), delegate, planLength);
        if (found != null) {
          return found;
        }
        Thread.sleep(PAUSE_MS);
      }
    } catch (IOException error) {
      return null; // this phone has no log for apps
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    return null;
  }

  private static List<String> since(int before, List<String> lines) {
    return lines.subList(Math.min(before, lines.size()), lines.size());
  }

  /** How many lines there are now; 0 where they cannot be read. */
  static int length(Lines log) {
    try {
      return log.read().size();
    } catch (IOException error) {
      return 0;
    }
  }

  /**
   * An accelerator's delegate takes nodes first, then XNNPACK some of those that are left, in a plan of the length
   * that it logs.
   */
  private static Delegation parse(List<String> lines, String delegate, int planLength) {
    Delegation last = null;
    Integer cpuPlan = null;
    for (String line : lines) {
      Matcher match = TAKEN.matcher(line);
      if (!match.find()) {
        continue;
      }
      int nodes = Integer.parseInt(match.group(1));
      int total = Integer.parseInt(match.group(2));
      if (match.group(3).contains(delegate)) {
        last = new Delegation(nodes, total, planLength - (total - nodes));
        cpuPlan = null;
      } else if (match.group(3).contains(CPU)) {
        cpuPlan = total;
      }
    }
    if (last == null) {
      return cpuPlan == null ? null : new Delegation(0, cpuPlan, 0);
    }
    return cpuPlan == null
        ? last
        : new Delegation(last.nodes, last.total, cpuPlan - (last.total - last.nodes));
  }

  /** The lines of this process in the phone's log. */
  static List<String> ofThisProcess() throws IOException {
    String own = "--pid=" + new File("/proc/self").getCanonicalFile().getName();
    Process logcat = new ProcessBuilder("logcat", "-d", "-v", "raw", own, "-s", "tflite").start();
    List<String> lines = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(logcat.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    } finally {
      logcat.destroy();
    }
    return lines;
  }
}
