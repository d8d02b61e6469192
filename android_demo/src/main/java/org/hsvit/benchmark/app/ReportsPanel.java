package org.hsvit.benchmark.app;

import android.text.SpannableStringBuilder;
import android.text.format.DateUtils;
import android.text.style.ForegroundColorSpan;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.hsvit.benchmark.R;

/** The list of reports, the newest first. */
final class ReportsPanel {
  private final ViewGroup views;
  private final View none;
  private final Consumer<File> open;

  /**
   * @param none shown if there are no reports
   * @param open opens the report that the user chooses
   */
  ReportsPanel(ViewGroup views, View none, Consumer<File> open) {
    this.views = views;
    this.none = none;
    this.open = open;
  }

  /** The reports in a folder, the newest first. */
  static List<File> list(File folder) {
    File[] files = folder.listFiles((parent, name) -> name.endsWith(".json") && !name.startsWith("."));
    if (files == null) {
      return Collections.emptyList();
    }
    List<File> reports = new ArrayList<>(Arrays.asList(files));
    reports.sort(Comparator.comparing(File::lastModified).thenComparing(File::getName).reversed());
    return reports;
  }

  void show(List<File> reports) {
    none.setVisibility(reports.isEmpty() ? View.VISIBLE : View.GONE);
    views.removeAllViews();
    for (File report : reports) {
      LayoutInflater inflater = LayoutInflater.from(views.getContext());
      TextView row = (TextView) inflater.inflate(R.layout.report, views, false);
      row.setText(text(report));
      row.setOnClickListener(view -> open.accept(report));
      views.addView(row);
    }
  }

  private CharSequence text(File report) {
    int flags = DateUtils.FORMAT_SHOW_DATE | DateUtils.FORMAT_SHOW_TIME | DateUtils.FORMAT_SHOW_YEAR;
    String date = DateUtils.formatDateTime(views.getContext(), report.lastModified(), flags);
    String id = report.getName().replaceFirst("\\.json$", "");
    int color = views.getContext().getColor(R.color.text_secondary);
    return new SpannableStringBuilder(date).append("\n").append(id, new ForegroundColorSpan(color), 0);
  }

  void setEnabled(boolean enabled) {
    for (int i = 0; i < views.getChildCount(); i++) {
      views.getChildAt(i).setEnabled(enabled);
    }
  }
}
