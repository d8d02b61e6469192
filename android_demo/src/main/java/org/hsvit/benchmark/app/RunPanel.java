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
import org.hsvit.benchmark.measure.Listener.Phase;
import org.hsvit.benchmark.report.Progress;
import org.hsvit.benchmark.report.Session.Status;

/** The bottom of the screen: state of the run, and the buttons that start and cancel it. */
final class RunPanel {
  private static final int MINUTE = 60;

  private final Context context;
  private final TextView status;
  private final TextView note;
  private final ProgressBar progress;
  private final Button results;
  private final Button start;
  private final Button cancel;
  private final Consumer<File> open;

  /**
   * @param open opens the report that the user chooses
   */
  RunPanel(Activity activity, Runnable start, Runnable cancel, Consumer<File> open) {
    context = activity;
    status = activity.findViewById(R.id.status);
    note = activity.findViewById(R.id.status_note);
    note.setMovementMethod(new ScrollingMovementMethod()); // error messages of a runtime can be long
    progress = activity.findViewById(R.id.progress);
    results = activity.findViewById(R.id.show_results);
    this.start = activity.findViewById(R.id.run);
    this.start.setOnClickListener(view -> start.run());
    this.cancel = activity.findViewById(R.id.cancel);
    this.cancel.setOnClickListener(view -> cancel.run());
    this.open = open;
  }

  /**
   * Shows the state of a run.
   *
   * @param run the current or last one, null if there was none
   * @param chosen how many pairs are chosen
   */
  void show(Run run, int chosen) {
    boolean running = run != null && run.ending() == null;
    progress.setVisibility(running ? View.VISIBLE : View.GONE);
    results.setVisibility(View.GONE);
    start.setVisibility(running ? View.GONE : View.VISIBLE);
    start.setEnabled(chosen > 0);
    cancel.setVisibility(running ? View.VISIBLE : View.GONE);
    cancel.setEnabled(running && !run.isCancelled());
    if (running) {
      showProgress(run);
    } else if (run != null) {
      showEnding(run.ending());
    } else {
      String none = context.getString(R.string.none_chosen);
      showStatus(chosen == 0 ? none : quantity(R.plurals.chosen, chosen), "");
    }
  }

  private void showProgress(Run run) {
    Progress now = run.progress();
    progress.setMax(now == null ? 1 : now.total);
    progress.setProgress(now == null ? 0 : now.done);
    if (run.isCancelled()) {
      showStatus(context.getString(R.string.stopping), "");
    } else {
      String position = Words.count(context.getResources(), run.position() + 1);
      String pairs = Words.count(context.getResources(), run.count());
      showStatus(
          context.getString(doing(now), run.current(), position, pairs),
          left(now) + context.getString(R.string.stay));
    }
  }

  private static int doing(Progress now) {
    Phase phase = now == null ? Phase.TIMING : now.phase;
    switch (phase) {
      case COOLING:
        return R.string.cooling;
      case TIMING_MORE:
        return R.string.timing_more;
      case CHECKING:
        return R.string.checking;
      case COMPARING:
        return R.string.comparing;
      default:
        return R.string.running;
    }
  }

  private String left(Progress now) {
    if (now == null || now.leftMs == null) {
      return "";
    }
    int seconds = (int) Math.ceil(now.leftMs / 1000.0);
    return seconds < MINUTE
        ? quantity(R.plurals.seconds_left, Math.max(1, seconds)) + "\n"
        : quantity(R.plurals.minutes_left, (seconds + MINUTE / 2) / MINUTE) + "\n";
  }

  private void showEnding(Run.Ending ending) {
    if (ending.status == Status.DONE) {
      showStatus(quantity(R.plurals.done, ending.measured), "");
    } else {
      boolean early = ending.status == Status.CANCELLED;
      showStatus(context.getString(early ? R.string.ended_early : R.string.ended_badly), ending.message);
    }
    results.setVisibility(ending.file == null ? View.GONE : View.VISIBLE);
    results.setOnClickListener(view -> open.accept(ending.file));
  }

  /** Sets only a text that has changed, as screen readers read every change aloud. */
  private void showStatus(String text, String more) {
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
