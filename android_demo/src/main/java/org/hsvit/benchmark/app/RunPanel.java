package org.hsvit.benchmark.app;

import android.app.Activity;
import android.content.Context;
import android.text.method.ScrollingMovementMethod;
import android.view.View;
import android.widget.Button;
import android.widget.ProgressBar;
import android.widget.TextView;
import java.io.File;
import java.util.function.Consumer;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.report.Session.Status;

/** The foot of the screen: what a run does or did, and the button that starts or ends it. */
final class RunPanel {
  private final Context context;
  private final TextView status;
  private final TextView note;
  private final ProgressBar progress;
  private final Button results;
  private final Button button;
  private final Runnable start;
  private final Runnable cancel;
  private final Consumer<File> open;

  /**
   * @param open told which report the user wants to see
   */
  RunPanel(Activity activity, Runnable start, Runnable cancel, Consumer<File> open) {
    context = activity;
    status = activity.findViewById(R.id.status);
    note = activity.findViewById(R.id.status_note);
    note.setMovementMethod(new ScrollingMovementMethod()); // a runtime's refusals can be long
    progress = activity.findViewById(R.id.progress);
    results = activity.findViewById(R.id.show_results);
    button = activity.findViewById(R.id.run);
    this.start = start;
    this.cancel = cancel;
    this.open = open;
  }

  /**
   * Shows how things stand.
   *
   * @param run in progress or the last one, null if there was none
   * @param chosen how many pairs are chosen
   */
  void show(Run run, int chosen) {
    boolean running = run != null && run.ending() == null;
    progress.setVisibility(running ? View.VISIBLE : View.GONE);
    results.setVisibility(View.GONE);
    button.setText(running ? R.string.cancel : R.string.run);
    button.setEnabled(running ? !run.isCancelled() : chosen > 0);
    button.setOnClickListener(view -> (running ? cancel : start).run());
    if (running) {
      showProgress(run);
    } else if (run != null) {
      showEnding(run.ending());
    } else {
      String none = context.getString(R.string.none_chosen);
      say(chosen == 0 ? none : quantity(R.plurals.chosen, chosen), "");
    }
  }

  private void showProgress(Run run) {
    progress.setMax(run.total());
    progress.setProgress(run.done());
    if (run.isCancelled()) {
      say(context.getString(R.string.stopping), "");
    } else {
      String position = Words.count(context.getResources(), run.pairs.indexOf(run.current()) + 1);
      String pairs = Words.count(context.getResources(), run.pairs.size());
      say(
          context.getString(R.string.running, run.current().name, position, pairs),
          context.getString(R.string.stay));
    }
  }

  private void showEnding(Run.Ending ending) {
    if (ending.status == Status.DONE) {
      say(quantity(R.plurals.done, ending.measured), "");
    } else {
      boolean early = ending.status == Status.CANCELLED;
      say(context.getString(early ? R.string.ended_early : R.string.ended_badly), ending.message);
    }
    results.setVisibility(ending.file == null ? View.GONE : View.VISIBLE);
    results.setOnClickListener(view -> open.accept(ending.file));
  }

  /** Only what is new, for a screen reader reads each change aloud. */
  private void say(String text, String more) {
    if (!text.contentEquals(status.getText())) {
      status.setText(text);
    }
    note.setText(more);
    note.scrollTo(0, 0);
    note.setVisibility(more.isEmpty() ? View.GONE : View.VISIBLE);
  }

  private String quantity(int plural, int count) {
    return Words.quantity(context.getResources(), plural, count);
  }
}
