package org.hsvit.benchmark.app;

import android.app.Application;
import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The app's process: keeps what outlives its screens. */
public final class BenchmarkApplication extends Application {
  /** What measures; tests put another in its place. */
  Phone phone;

  private final Executor background = Executors.newSingleThreadExecutor();
  private final Handler main = new Handler(Looper.getMainLooper());
  private RunHolder runs;
  private Additions additions;

  static BenchmarkApplication of(Context context) {
    return (BenchmarkApplication) context.getApplicationContext();
  }

  @Override
  public void onCreate() {
    super.onCreate();
    phone = Phone.real(this);
    runs = new RunHolder(this);
    additions = new Additions(this);
  }

  RunHolder runs() {
    return runs;
  }

  Additions additions() {
    return additions;
  }

  /** Does what takes time beside the main thread, one after the other, and hands the result to that one. */
  <T> void inBackground(Supplier<T> work, Consumer<T> finished) {
    background.execute(
        () -> {
          T result = work.get();
          main.post(() -> finished.accept(result));
        });
  }
}
