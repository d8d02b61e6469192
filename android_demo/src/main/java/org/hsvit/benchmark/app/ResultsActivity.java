package org.hsvit.benchmark.app;

import android.app.Activity;
import android.os.Bundle;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import java.io.File;
import java.io.IOException;
import java.util.List;
import org.hsvit.benchmark.R;

/** Shows a report: failures, all models side by side, a card for each pair, warnings. */
public final class ResultsActivity extends Activity {
  /** Absolute path of the report, in the app's folder of reports. */
  static final String REPORT = "report";

  private ReportWords words;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    setContentView(R.layout.activity_results);
    words = new ReportWords(getResources());
    String path = getIntent().getStringExtra(REPORT);
    if (path == null) {
      fail(getString(R.string.results_none));
      return;
    }
    BenchmarkApplication.of(this).inBackground(() -> read(new File(path)), Runnable::run);
  }

  /** Reads a report, which grows with its runs, and gives what then has to be done on the main thread. */
  private Runnable read(File file) {
    try {
      SavedReport report = SavedReport.read(file);
      return () -> show(file, report);
    } catch (IOException | RuntimeException | OutOfMemoryError error) {
      return () -> fail(Words.problem(error));
    }
  }

  private void fail(String problem) {
    text(R.id.setup, getString(R.string.results_unreadable, problem));
  }

  private void show(File file, SavedReport report) {
    if (isDestroyed()) {
      return;
    }
    text(R.id.setup, words.setup(report));
    notes(R.id.failures, R.id.failures_list, words.failures(report));
    notes(R.id.warnings, R.id.warnings_list, words.warnings(report));
    new OverviewPanel(findViewById(R.id.overview)).show(Overview.of(report));
    ViewGroup cards = findViewById(R.id.pairs);
    for (SavedReport.Compared pair : report.pairs) {
      cards.addView(card(cards, pair));
    }
    ReportActions.show(this, file, report, words);
  }

  private View card(ViewGroup cards, SavedReport.Compared pair) {
    View card = LayoutInflater.from(this).inflate(R.layout.result_pair, cards, false);
    String title = getString(R.string.results_pair, pair.mobile.name, pair.original.name);
    text(card.findViewById(R.id.title), title);
    text(card.findViewById(R.id.alarm), words.alarm(pair));
    text(card.findViewById(R.id.headline), words.headline(pair));
    text(card.findViewById(R.id.ratio), words.ratio(pair));
    ViewGroup table = card.findViewById(R.id.table);
    row(table, "", getString(R.string.results_original), getString(R.string.results_mobile))
        .setImportantForAccessibility(View.IMPORTANT_FOR_ACCESSIBILITY_NO_HIDE_DESCENDANTS);
    for (ReportWords.Row row : words.rows(pair)) {
      row(table, row.name, row.original, row.mobile).setContentDescription(row.sentence);
    }
    text(card.findViewById(R.id.agreement), words.agreement(pair));
    card.<BarsView>findViewById(R.id.bars).show(pair, words.bars(pair));
    card.<HistogramView>findViewById(R.id.histogram).show(pair, words.histogram(pair));
    text(card.findViewById(R.id.states), words.states(pair));
    MoreCharts.addTo((ViewGroup) card, pair);
    return card;
  }

  private View row(ViewGroup table, String name, String original, String mobile) {
    boolean large = Words.areLarge(getResources());
    int layout = large ? R.layout.result_row_large : R.layout.result_row;
    View row = LayoutInflater.from(this).inflate(layout, table, false);
    text(row.findViewById(R.id.name), large && name.isEmpty() ? null : name);
    row.<TextView>findViewById(R.id.original).setText(original);
    row.<TextView>findViewById(R.id.mobile).setText(mobile);
    table.addView(row);
    return row;
  }

  private void notes(int section, int list, List<String> lines) {
    findViewById(section).setVisibility(lines.isEmpty() ? View.GONE : View.VISIBLE);
    text(list, String.join("\n", lines));
  }

  private void text(int view, String text) {
    text(this.<TextView>findViewById(view), text);
  }

  /** Sets a text; without one, the view takes no room. */
  private static void text(TextView view, String text) {
    view.setText(Words.wrapped(text));
    view.setVisibility(text == null ? View.GONE : View.VISIBLE);
  }
}
