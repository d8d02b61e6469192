package org.hsvit.benchmark.app;

import android.app.Application;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The app's process: keeps the state that all screens share. */
public final class BenchmarkApplication extends Application {
  /** Runtime, decoder and clocks; tests replace it. */
  Phone phone;

  private final Executor background = Executors.newSingleThreadExecutor();
  private final Handler main = new Handler(Looper.getMainLooper());
  private RunHolder runs;
  private Additions additions;
  private Unfinished unfinished;
  private boolean told;

  static BenchmarkApplication of(Context context) {
    return (BenchmarkApplication) context.getApplicationContext();
  }

  @Override
  public void onCreate() {
    super.onCreate();
    phone = Phone.real(this);
    runs = new RunHolder(this);
    additions = new Additions(this);
    unfinished = new Unfinished(this);
  }

  /** What the app works at. */
  Unfinished unfinished() {
    return unfinished;
  }

  /** What a crash has ended, given once; null for nothing. */
  String takeUnfinished() {
    String left = told ? null : unfinished.left();
    told = true;
    if (left != null && !runs.isRunning()) {
      unfinished.end();
    }
    return left;
  }

  RunHolder runs() {
    return runs;
  }

  Additions additions() {
    return additions;
  }

  /** Runs long work in the background, one after the other, and passes each result to the main thread. */
  <T> void inBackground(Supplier<T> work, Consumer<T> finished) {
    background.execute(
        () -> {
          T result = work.get();
          main.post(() -> finished.accept(result));
        });
  }
}
