package org.hsvit.benchmark.app;

import android.content.res.Resources;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.hsvit.benchmark.R;

/** An overview in words: for its table, for screen readers, and as text to share. */
final class OverviewWords {
  private final Resources resources;

  OverviewWords(Resources resources) {
    this.resources = resources;
  }

  /** Names of the columns: name, latency, metric, size. */
  String[] heads(Overview overview) {
    String metric = overview.metric == null ? null : overview.metric.title;
    return new String[] {
      text(R.string.overview_model), text(R.string.overview_latency), metric, text(R.string.results_size)
    };
  }

  /** What stands in the columns; where letters are large, each with the name of its column. */
  String[] cells(Overview overview, Overview.Entry entry) {
    String[] cells = {
      label(overview, entry), Words.milliseconds(resources, entry.p50), metric(overview, entry), size(entry)
    };
    String[] heads = heads(overview);
    for (int i = 1; i < cells.length && Words.areLarge(resources); i++) {
      cells[i] = cells[i] == null ? null : resources.getString(R.string.results_agreement, heads[i], cells[i]);
    }
    return cells;
  }

  private String label(Overview overview, Overview.Entry entry) {
    int format =
        entry.wrong ? R.string.overview_wrong : entry.isBest() ? R.string.overview_best : R.string.overview_other;
    String number = Words.count(resources, overview.number(entry));
    return resources.getString(format, number, entry.name);
  }

  private String metric(Overview overview, Overview.Entry entry) {
    if (overview.metric == null) {
      return null;
    }
    return entry.metric == null
        ? text(R.string.results_unknown)
        : Words.measured(resources, overview.metric, entry.metric);
  }

  private String size(Overview.Entry entry) {
    return entry.bytes == null ? text(R.string.results_unknown) : Words.size(resources, entry.bytes);
  }

  /** A row as a sentence. */
  String sentence(Overview overview, Overview.Entry entry) {
    StringJoiner facts = new StringJoiner(", ");
    facts.add(Words.milliseconds(resources, entry.p50));
    if (overview.metric != null) {
      facts.add(overview.metric.title + " " + metric(overview, entry));
    }
    facts.add(size(entry));
    if (entry.wrong) {
      facts.add(text(R.string.overview_is_wrong));
    } else if (entry.isBest()) {
      facts.add(text(R.string.overview_is_best));
    }
    return resources.getString(
        R.string.overview_row,
        Words.count(resources, overview.number(entry)),
        entry.name,
        facts.toString());
  }

  /** The picture, for screen readers; the table has its numbers. */
  String picture(Overview overview) {
    List<String> best = new ArrayList<>();
    for (Overview.Entry entry : overview.placed()) {
      if (entry.isBest()) {
        best.add(entry.name);
      }
    }
    return resources.getString(R.string.overview_picture, overview.metric.title, String.join(", ", best));
  }

  /** What the signs mean. */
  String note(Overview overview) {
    StringJoiner lines = new StringJoiner("\n");
    if (!overview.placed().isEmpty()) {
      lines.add(text(R.string.overview_best_note));
    }
    if (overview.entries.stream().anyMatch(entry -> entry.wrong)) {
      lines.add(text(R.string.overview_wrong_note));
    }
    return lines.length() == 0 ? text(R.string.overview_no_metric_note) : lines.toString();
  }

  /** All of it, to share. */
  String text(Overview overview) {
    StringJoiner lines = new StringJoiner("\n");
    overview.entries.forEach(entry -> lines.add(sentence(overview, entry)));
    return lines.toString();
  }

  private String text(int string) {
    return resources.getString(string);
  }
}
