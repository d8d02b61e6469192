package org.hsvit.benchmark.app;

import android.app.Activity;
import android.app.AlertDialog;
import android.view.View;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.hsvit.benchmark.R;

/** What a user does with a report that is shown: share it, compare it with another, delete it. */
final class ReportActions {
  private final Activity screen;
  private final File file;
  private final SavedReport report;

  private ReportActions(Activity screen, File file, SavedReport report) {
    this.screen = screen;
    this.file = file;
    this.report = report;
  }

  /** Shows the buttons of a screen, and lets them work. */
  static void show(Activity screen, File file, SavedReport report, ReportWords words) {
    ReportActions actions = new ReportActions(screen, file, report);
    screen.findViewById(R.id.share).setVisibility(View.VISIBLE);
    actions.on(R.id.share_json, () -> Share.json(screen, file));
    actions.on(R.id.share_text, () -> Share.text(screen, words.text(report)));
    actions.on(R.id.share_csv, () -> Share.text(screen, ReportCsv.text(report)));
    actions.on(R.id.compare, actions::choose);
    actions.on(R.id.delete, actions::delete);
    screen.findViewById(R.id.compare).setEnabled(!actions.others().isEmpty());
  }

  private void on(int button, Runnable action) {
    screen.findViewById(button).setOnClickListener(view -> action.run());
  }

  private List<File> others() {
    List<File> all = ReportsPanel.list(file.getParentFile());
    return all.stream().filter(each -> !each.equals(file)).collect(Collectors.toList());
  }

  private void choose() {
    List<File> others = others();
    String[] names = others.stream().map(ReportActions::name).toArray(String[]::new);
    new AlertDialog.Builder(screen)
        .setTitle(R.string.compare_with)
        .setItems(names, (dialog, which) -> compare(others.get(which)))
        .setNegativeButton(R.string.cancel, null)
        .show();
  }

  private void compare(File other) {
    String text;
    try {
      text = new ReportComparison(screen.getResources()).text(SavedReport.read(other), report);
    } catch (IOException error) {
      text = screen.getString(R.string.results_unreadable, error.getMessage());
    }
    String title = screen.getString(R.string.compare_title, name(other), name(file));
    new AlertDialog.Builder(screen)
        .setTitle(title)
        .setMessage(text)
        .setPositiveButton(android.R.string.ok, null)
        .show();
  }

  private void delete() {
    new AlertDialog.Builder(screen)
        .setMessage(screen.getString(R.string.delete_question, name(file)))
        .setNegativeButton(R.string.keep, null)
        .setPositiveButton(
            R.string.delete,
            (dialog, button) -> {
              file.delete();
              screen.finish();
            })
        .show();
  }

  private static String name(File report) {
    return report.getName().replaceFirst("\\.json$", "");
  }
}
