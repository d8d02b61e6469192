package org.hsvit.benchmark.app;

import android.app.Activity;
import android.app.AlertDialog;
import android.app.KeyguardManager;
import android.content.ActivityNotFoundException;
import android.content.ClipData;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.os.PowerManager;
import android.view.View;
import android.view.WindowManager;
import android.widget.TextView;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.measure.Settings;

/** The first screen: models, settings, the current run, earlier reports. */
public final class MainActivity extends Activity implements RunHolder.Observer, PairsPanel.Actions {
  private static final int ADD = 1;
  private static final String NOTICE = "notice";
  private static final String PICKED = "picked";
  private static final String RANGE = "range";

  private BenchmarkApplication app;
  private PairsPanel pairs;
  private SettingsPanel settings;
  private ReportsPanel reports;
  private RunPanel foot;
  private String notice;

  /** Files that are added once their input range is known. */
  private ArrayList<Uri> picked = new ArrayList<>();

  private RangeDialog question;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    setContentView(R.layout.main);
    app = BenchmarkApplication.of(this);
    pairs = new PairsPanel(findViewById(R.id.bundles), this);
    settings = new SettingsPanel(findViewById(R.id.settings));
    reports = new ReportsPanel(findViewById(R.id.reports), findViewById(R.id.no_reports), this::open);
    foot = new RunPanel(this, this::start, this::cancel, this::open);
    findViewById(R.id.add).setOnClickListener(view -> pick());
    if (state == null) {
      String left = app.takeUnfinished();
      notice(left == null ? null : getString(R.string.crashed, left));
      autorun(getIntent());
    } else {
      pairs.restore(state);
      settings.restore(state);
      notice(state.getString(NOTICE));
      picked = state.getParcelableArrayList(PICKED);
      askForRange(state.getBundle(RANGE));
    }
  }

  @Override
  protected void onNewIntent(Intent intent) {
    super.onNewIntent(intent);
    notice(null);
    autorun(intent);
  }

  private void autorun(Intent intent) {
    if (Autorun.isAskedBy(intent)) {
      Autorun.start(app, intent, problem -> notice(getString(R.string.not_started) + "\n" + problem));
    }
  }

  @Override
  protected void onStart() {
    super.onStart();
    app.runs().add(this);
    app.additions().observe(this::onAddition);
    onRunChanged(app.runs().run());
    onAddition();
  }

  /** A run ends when the app leaves the foreground, where Android slows it down. Rotating does not end it. */
  @Override
  protected void onStop() {
    super.onStop();
    app.runs().remove(this);
    app.additions().observe(null);
    if (!isChangingConfigurations()) {
      app.runs().cancel(getString(isLocked() ? R.string.reason_locked : R.string.reason_left));
    }
  }

  private boolean isLocked() {
    return getSystemService(KeyguardManager.class).isKeyguardLocked()
        || !getSystemService(PowerManager.class).isInteractive();
  }

  @Override
  protected void onSaveInstanceState(Bundle state) {
    super.onSaveInstanceState(state);
    pairs.save(state);
    settings.save(state);
    state.putString(NOTICE, notice);
    state.putParcelableArrayList(PICKED, picked);
    state.putBundle(RANGE, question == null ? null : question.save());
  }

  @Override
  protected void onDestroy() {
    super.onDestroy();
    if (question != null) {
      question.close();
    }
  }

  private void listBundles() {
    app.inBackground(() -> Library.list(app), this::show);
  }

  private void show(List<Library.Entry> entries) {
    pairs.show(entries);
    TextView note = findViewById(R.id.models_note);
    note.setVisibility(entries.size() == 1 ? View.GONE : View.VISIBLE);
    note.setText(entries.isEmpty() ? R.string.no_bundles : R.string.one_bundle);
  }

  @Override
  public void onRunChanged(Run run) {
    boolean running = app.runs().isRunning();
    if (running) {
      getWindow().addFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON);
    } else {
      getWindow().clearFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON);
      reports.show(ReportsPanel.list(Folders.reports(this)));
    }
    pairs.setEnabled(!running);
    settings.setEnabled(!running);
    reports.setEnabled(!running);
    findViewById(R.id.add).setEnabled(!running && !app.additions().isBusy());
    foot.show(run, pairs.pairs().size());
  }

  @Override
  public void onChosen() {
    foot.show(app.runs().run(), pairs.pairs().size());
  }

  private void start() {
    Settings asked;
    try {
      asked = settings.read();
    } catch (IllegalArgumentException error) {
      notice(getString(R.string.settings_wrong, error.getMessage()));
      return;
    }
    notice(null);
    app.runs().start(RunHolder.newId(), pairs.key(), pairs.bundle(), pairs.pairs(), asked);
  }

  private void cancel() {
    app.runs().cancel(getString(R.string.reason_user));
  }

  private void open(File report) {
    String path = report.getAbsolutePath();
    startActivity(new Intent(this, ResultsActivity.class).putExtra(ResultsActivity.REPORT, path));
  }

  @Override
  public void classify(Library.Entry entry) {
    startActivity(new Intent(this, ClassifyActivity.class).putExtra(ClassifyActivity.BUNDLE, entry.key));
  }

  @Override
  public void remove(Library.Entry entry) {
    String name = entry.bundle == null ? entry.key : entry.bundle.name();
    new AlertDialog.Builder(this)
        .setMessage(getString(R.string.remove_question, name))
        .setNegativeButton(R.string.keep, null)
        .setPositiveButton(
            R.string.remove,
            (dialog, button) -> {
              Library.remove(this, entry.key);
              listBundles();
            })
        .show();
  }

  private void pick() {
    Intent intent = new Intent(Intent.ACTION_OPEN_DOCUMENT);
    intent.addCategory(Intent.CATEGORY_OPENABLE).setType("*/*"); // .tflite has no MIME type
    intent.putExtra(Intent.EXTRA_ALLOW_MULTIPLE, true);
    try {
      startActivityForResult(intent, ADD);
    } catch (ActivityNotFoundException error) {
      notice(getString(R.string.no_picker));
    }
  }

  @Override
  protected void onActivityResult(int request, int result, Intent data) {
    if (request == ADD && result == RESULT_OK && data != null) {
      picked = new ArrayList<>();
      ClipData several = data.getClipData();
      for (int i = 0; several != null && i < several.getItemCount(); i++) {
        picked.add(several.getItemAt(i).getUri());
      }
      if (several == null && data.getData() != null) {
        picked.add(data.getData());
      }
      if (!picked.isEmpty()) {
        app.additions().open(List.copyOf(picked));
        picked.clear();
        onAddition();
      }
    }
  }

  /**
   * Asks for the input range of the picked files, if there are any, and adds them.
   *
   * @param state of the dialog before the phone was rotated; null for none
   */
  private void askForRange(Bundle state) {
    if (!picked.isEmpty()) {
      question = new RangeDialog(this, app.additions().metadata(), this::add, () -> picked.clear());
      question.show(state);
    }
  }

  private void add(InputRange range, List<String> classNames) {
    app.additions().add(List.copyOf(picked), range, classNames);
    picked.clear();
    onAddition();
  }

  private void onAddition() {
    String message = app.additions().takeMessage();
    if (message != null) {
      notice(message);
    }
    List<Uri> question = app.additions().takeQuestion();
    if (question != null) {
      notice(null);
      picked = new ArrayList<>(question);
      askForRange(null);
    }
    findViewById(R.id.add).setEnabled(!app.additions().isBusy() && !app.runs().isRunning());
    if (!app.additions().isBusy()) {
      listBundles();
    }
  }

  /** Shows a message at the top of the screen; null removes it. */
  private void notice(String text) {
    notice = text;
    TextView view = findViewById(R.id.notice);
    view.setText(text);
    view.setVisibility(text == null ? View.GONE : View.VISIBLE);
    if (text != null) {
      findViewById(R.id.scroll).scrollTo(0, 0);
    }
  }
}
