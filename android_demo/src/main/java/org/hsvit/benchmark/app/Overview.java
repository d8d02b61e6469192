package org.hsvit.benchmark.app;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.Measure;

/**
 * All models of a run, the fastest first: which of them are best in latency and the task's metric together.
 *
 * <p>A model that is measured in several pairs, such as the original, is one entry on each accelerator, with the
 * median of its medians.
 */
final class Overview {
  /** A model on an accelerator. */
  static final class Entry {
    /** The name of its file without the suffix, and its accelerator but for the CPU. */
    final String name;

    final Long bytes;
    final double p50;

    /** Null where it is not known. */
    final Double metric;

    final boolean wrong;

    /** Whether no other model is at least as good in latency and metric, and better in one of them. */
    private boolean best;

    Entry(String name, Long bytes, double p50, Double metric, boolean wrong) {
      this.name = name;
      this.bytes = bytes;
      this.p50 = p50;
      this.metric = metric;
      this.wrong = wrong;
    }

    boolean isBest() {
      return best;
    }

    /** Whether it has a place in latency and metric. */
    boolean isPlaced() {
      return !wrong && metric != null;
    }
  }

  /** The task's metric; null where it has none. */
  final Measure metric;

  /** Those with correct outputs first, each group from the fastest on. */
  final List<Entry> entries;

  /**
   * @param entries in any order
   */
  Overview(Measure metric, List<Entry> entries) {
    this.metric = metric;
    this.entries = new ArrayList<>(entries);
    this.entries.sort(Comparator.<Entry>comparingInt(each -> each.wrong ? 1 : 0).thenComparing(each -> each.p50));
    for (Entry entry : this.entries) {
      entry.best = entry.isPlaced() && this.entries.stream().noneMatch(other -> isBetter(other, entry));
    }
  }

  /** The models of a report. */
  static Overview of(SavedReport report) {
    Map<String, List<SavedReport.Model>> same = new LinkedHashMap<>();
    for (SavedReport.Compared pair : report.pairs) {
      for (SavedReport.Model model : List.of(pair.original, pair.mobile)) {
        same.computeIfAbsent(model.fileTitle(), any -> new ArrayList<>()).add(model);
      }
    }
    List<Entry> entries = new ArrayList<>();
    same.values().forEach(models -> entries.add(entry(models)));
    return new Overview(report.pairs.isEmpty() ? null : report.pairs.get(0).task.metric, entries);
  }

  private static Entry entry(List<SavedReport.Model> models) {
    SavedReport.Model first = models.get(0);
    double[] medians = models.stream().mapToDouble(model -> model.p50).sorted().toArray();
    boolean wrong = models.stream().anyMatch(model -> model.wrong);
    return new Entry(first.fileTitle(), first.bytes, median(medians), first.metric, wrong);
  }

  private static double median(double[] sorted) {
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  private boolean isBetter(Entry other, Entry entry) {
    if (!other.isPlaced()) {
      return false;
    }
    double gain = metric.higherIsBetter ? other.metric - entry.metric : entry.metric - other.metric;
    return other.p50 <= entry.p50 && gain >= 0 && (other.p50 < entry.p50 || gain > 0);
  }

  /** Those that have a place in a picture of latency and metric, the fastest first. */
  List<Entry> placed() {
    List<Entry> placed = new ArrayList<>(entries);
    placed.removeIf(entry -> !entry.isPlaced());
    return placed;
  }

  /** The number of an entry, in table and picture. */
  int number(Entry entry) {
    return entries.indexOf(entry) + 1;
  }
}
