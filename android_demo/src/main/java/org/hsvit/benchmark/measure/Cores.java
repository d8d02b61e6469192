package org.hsvit.benchmark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Numbers of cores as Linux writes them: {@code 0-3,7}. */
public final class Cores {
  private static final int MOST = 64; // bits of a mask

  private Cores() {}

  /**
   * Reads numbers of cores.
   *
   * @return each once, in order
   * @throws IllegalArgumentException it is no such text
   */
  public static List<Integer> parse(String text) {
    TreeSet<Integer> cores = new TreeSet<>();
    for (String part : text.trim().split(",", -1)) {
      String[] ends = part.trim().split("-", -1);
      try {
        int first = Integer.parseInt(ends[0]);
        int last = Integer.parseInt(ends[ends.length - 1]);
        if (ends.length > 2 || first < 0 || first > last || last >= MOST) {
          throw new NumberFormatException();
        }
        for (int core = first; core <= last; core++) {
          cores.add(core);
        }
      } catch (NumberFormatException error) {
        throw new IllegalArgumentException(
            "cores=" + text + " must be numbers from 0 to " + (MOST - 1) + " such as 0-3,7", error);
      }
    }
    return new ArrayList<>(cores);
  }

  /** Writes numbers that are in order. */
  public static String text(List<Integer> cores) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < cores.size(); ) {
      int end = i;
      while (end + 1 < cores.size() && cores.get(end + 1) == cores.get(end) + 1) {
        end++;
      }
      text.append(text.length() == 0 ? "" : ",").append(cores.get(i));
      text.append(end == i ? "" : "-" + cores.get(end));
      i = end + 1;
    }
    return text.toString();
  }
}
