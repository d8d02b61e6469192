package org.hsvit.benchmark.app;

import android.content.Intent;
import android.util.Log;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.Cores;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Json;
import org.hsvit.benchmark.report.Progress;
import org.hsvit.benchmark.report.Session.Status;
import org.hsvit.benchmark.report.WholeFile;
import org.json.JSONObject;

/**
 * Runs that a computer starts by an intent and follows in the phone's log, as {@code export.phone} does.
 *
 * <p>{@code HSVIT_PROGRESS} lines report progress; one line {@code HSVIT_RESULT} always ends the run. The last
 * line is in the run's file, too: the log of some phones shows nothing.
 */
final class Autorun implements RunHolder.Observer {
  static final String TAG = "HsvitBenchmark";
  private static final int LONGEST = 1000; // characters of a message, as the log cuts long lines
  private static final int STEPS = 200; // at most so many lines of progress

  private final BenchmarkApplication app;
  private final String id;
  private int logged = -1; // of STEPS

  private Autorun(BenchmarkApplication app, String id) {
    this.app = app;
    this.id = id;
  }

  /** Whether an intent asks for a run. */
  static boolean isAskedBy(Intent intent) {
    return intent.getBooleanExtra("autorun", false)
        && (intent.getFlags() & Intent.FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY) == 0;
  }

  /**
   * Starts the run that an intent asks for, after its bundle was read in the background.
   *
   * @param refused receives why it was not started, on the main thread
   */
  static void start(BenchmarkApplication app, Intent intent, Consumer<String> refused) {
    String asked = intent.getStringExtra("run_id");
    Autorun autorun = new Autorun(app, asked == null ? RunHolder.newId() : asked);
    app.inBackground(
        () -> autorun.prepare(intent),
        start -> {
          try {
            start.call();
          } catch (Exception error) {
            autorun.logResult(new Run.Ending(Status.FAILED, Words.problem(error), null, 0));
            refused.accept(Words.problem(error));
          }
        });
  }

  /** Reads the bundle, which may be large, and gives what then has to be done on the main thread. */
  private Callable<Run> prepare(Intent intent) {
    try {
      return prepareOrThrow(intent);
    } catch (IOException | RuntimeException | OutOfMemoryError error) {
      return () -> {
        throw new IllegalArgumentException(Words.problem(error), error);
      };
    }
  }

  private Callable<Run> prepareOrThrow(Intent intent) throws IOException {
    if (!hasFileName()) {
      throw new IllegalArgumentException(
          "run_id=" + id + " must be up to 100 letters, digits, '-', '_' and '.', and not begin with '.'");
    }
    String named = intent.getStringExtra("bundle");
    String key = named == null ? Library.OWN : named;
    Bundle bundle = Library.open(app, key);
    List<Pair> pairs = pairs(bundle, intent.getStringExtra("pairs"));
    Settings settings = settings(intent);
    Folders.delete(Folders.runs(app)); // what earlier runs told
    return () -> {
      Run run = app.runs().start(id, key, bundle, pairs, settings);
      app.runs().add(this);
      onRunChanged(run);
      return run;
    };
  }

  private static List<Pair> pairs(Bundle bundle, String names) throws IOException {
    if (names == null || names.equals("all")) {
      return bundle.pairs();
    }
    List<Pair> pairs = new ArrayList<>();
    for (String name : names.split(",")) {
      pairs.add(bundle.pair(name.trim()));
    }
    return pairs;
  }

  private static Settings settings(Intent intent) {
    Settings usual = Settings.DEFAULT;
    return new Settings.Builder()
        .threads(intent.getIntExtra("threads", usual.threads))
        .blocks(intent.getIntExtra("blocks", usual.blocks))
        .runs(intent.getIntExtra("runs", usual.runs))
        .blockMs(intent.getIntExtra("block_ms", usual.blockMs))
        .warmupMs(intent.getIntExtra("warmup_ms", usual.warmupMs))
        .cooldownMs(intent.getIntExtra("cooldown_ms", usual.cooldownMs))
        .limitS(intent.getIntExtra("limit_s", usual.limitS))
        .accelerators(accelerators(intent.getStringExtra("accelerator"), usual.accelerators))
        .coolS(intent.getIntExtra("cool_s", usual.coolS))
        .sustainedS(intent.getIntExtra("sustained_s", usual.sustainedS))
        .threadSweep(intent.getBooleanExtra("thread_sweep", usual.threadSweep))
        .xnnpack(intent.getBooleanExtra("xnnpack", usual.xnnpack))
        .cores(intent.hasExtra("cores") ? Cores.parse(intent.getStringExtra("cores")) : usual.cores)
        .fp16(intent.getBooleanExtra("fp16", usual.fp16))
        .build();
  }

  private static List<Accelerator> accelerators(String names, List<Accelerator> usual) {
    List<Accelerator> accelerators = new ArrayList<>();
    for (String name : names == null ? new String[0] : names.split(",")) {
      accelerators.add(accelerator(name.trim()));
    }
    return accelerators.isEmpty() ? usual : accelerators;
  }

  private static Accelerator accelerator(String name) {
    for (Accelerator known : Accelerator.values()) {
      if (known.toString().equals(name)) {
        return known;
      }
    }
    String all = Arrays.toString(Accelerator.values());
    throw new IllegalArgumentException("accelerator=" + name + " must be one of " + all);
  }

  @Override
  public void onRunChanged(Run run) {
    if (run.ending() != null) {
      app.runs().remove(this);
      logResult(run.ending());
    } else if (run.progress() != null && step(run.progress()) > logged) {
      logged = step(run.progress());
      int done = run.progress().done;
      tell("HSVIT_PROGRESS", "run_id", id, "done", done, "total", run.progress().total);
    }
  }

  private static int step(Progress progress) {
    return (int) ((long) STEPS * progress.done / progress.total);
  }

  private void logResult(Run.Ending ending) {
    String message = ending.message.substring(0, Math.min(LONGEST, ending.message.length()));
    tell(
        "HSVIT_RESULT",
        "run_id", id,
        "status", ending.status.name().toLowerCase(Locale.ROOT),
        "report", ending.file == null ? null : ending.file.getAbsolutePath(),
        "pairs", ending.measured,
        "message", message);
  }

  private void tell(String kind, Object... fields) {
    JSONObject told = Json.object(fields);
    Log.i(TAG, kind + " " + told);
    if (hasFileName()) {
      inBackground(() -> write(told.toString()));
    }
  }

  private void write(String told) {
    try {
      WholeFile.write(new File(Folders.runs(app), id + ".json"), told);
    } catch (IOException error) {
      Log.w(TAG, "the file of run " + id, error); // the log has it
    }
  }

  private void inBackground(Runnable work) {
    app.inBackground(
        () -> {
          work.run();
          return null;
        },
        nothing -> {});
  }

  private boolean hasFileName() {
    return id.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}");
  }
}
