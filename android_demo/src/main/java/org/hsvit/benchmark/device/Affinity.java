package org.hsvit.benchmark.device;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.hsvit.benchmark.measure.Cores;

/**
 * Binds a process to cores. Java has no call for it, so Android's own command {@code taskset} does it, which may set
 * what its user's other processes may. Threads that start later have the cores of the one that starts them.
 */
final class Affinity {
  private Affinity() {}

  /** Binds all threads of a process of this user, if the system lets it; {@link #allowed} tells what it has done. */
  static void bind(String process, List<Integer> cores) {
    long mask = 0;
    for (int core : cores) {
      mask |= 1L << core;
    }
    try {
      Process taskset =
          new ProcessBuilder("taskset", "-ap", Long.toHexString(mask), process)
              .redirectErrorStream(true)
              .start();
      try (InputStream told = taskset.getInputStream()) {
        byte[] buffer = new byte[1 << 12];
        while (told.read(buffer) >= 0) {} // a line for each thread
      }
      taskset.waitFor();
    } catch (IOException error) {
      return; // this phone has no taskset for apps
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The cores that any thread may run on.
   *
   * @param threads the folder /proc/PID/task
   * @return null where it cannot be read
   */
  static List<Integer> allowed(File threads) {
    TreeSet<Integer> cores = new TreeSet<>();
    File[] found = threads.listFiles();
    for (File thread : found == null ? new File[0] : found) {
      String told = ProcessFiles.field(new File(thread, "status"), "Cpus_allowed_list");
      if (told != null) {
        cores.addAll(Cores.parse(told));
      }
    }
    return cores.isEmpty() ? null : new ArrayList<>(cores);
  }
}
