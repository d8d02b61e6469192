package org.hsvit.benchmark.app;

import android.content.res.Resources;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import org.hsvit.benchmark.R;

/** All models of a run in a picture and a table; hidden for a single model, which has nothing beside it. */
final class OverviewPanel {
  private static final int[] CELLS = {R.id.name, R.id.latency, R.id.metric, R.id.size};

  private final View card;
  private final ViewGroup table;
  private final Resources resources;
  private final OverviewWords words;

  OverviewPanel(View card) {
    this.card = card;
    table = card.findViewById(R.id.overview_table);
    resources = card.getResources();
    words = new OverviewWords(resources);
  }

  void show(Overview overview) {
    card.setVisibility(overview.entries.size() > 1 ? View.VISIBLE : View.GONE);
    TradeOffView picture = card.findViewById(R.id.trade_off);
    boolean hasPicture = overview.placed().size() > 1;
    picture.setVisibility(hasPicture ? View.VISIBLE : View.GONE);
    if (hasPicture) {
      picture.show(overview, words.picture(overview));
    }
    if (!Words.areLarge(resources)) {
      View head = row(words.heads(overview));
      for (int id : CELLS) {
        head.<TextView>findViewById(id).setTextAppearance(R.style.Text_Benchmark_Note);
      }
      head.setImportantForAccessibility(View.IMPORTANT_FOR_ACCESSIBILITY_NO_HIDE_DESCENDANTS);
    }
    for (Overview.Entry entry : overview.entries) {
      View row = row(words.cells(overview, entry));
      row.setContentDescription(words.sentence(overview, entry));
      mark(row, entry);
    }
    card.<TextView>findViewById(R.id.overview_note).setText(words.note(overview));
  }

  /** A row of name, latency, metric and size; a table without a metric has no cells for it. */
  private View row(String[] cells) {
    int layout = Words.areLarge(resources) ? R.layout.overview_row_large : R.layout.overview_row;
    View row = LayoutInflater.from(card.getContext()).inflate(layout, table, false);
    for (int i = 0; i < CELLS.length; i++) {
      TextView cell = row.findViewById(CELLS[i]);
      cell.setText(Words.wrapped(cells[i]));
      cell.setVisibility(cells[i] == null ? View.GONE : View.VISIBLE);
    }
    table.addView(row);
    return row;
  }

  private void mark(View row, Overview.Entry entry) {
    TextView name = row.findViewById(R.id.name);
    name.setTextAppearance(entry.isBest() ? R.style.Text_Benchmark_Strong : R.style.Text_Benchmark_Body);
    if (entry.wrong) {
      name.setTextColor(card.getContext().getColor(R.color.error));
      int pale = card.getContext().getColor(R.color.text_secondary);
      row.<TextView>findViewById(R.id.latency).setTextColor(pale);
    }
  }
}
