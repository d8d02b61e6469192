package org.hsvit.benchmark.app;

import android.app.Service;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.Process;
import android.os.RemoteException;
import android.util.Log;
import java.io.File;
import java.io.IOException;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.AcceleratorException;
import org.hsvit.benchmark.measure.Benchmark;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.measure.StoredResult;

/**
 * Measures one pair in a process of its own, {@code :runner}: a driver that crashes ends this process and not the
 * app. {@link RemoteMeasurer} is its other side.
 */
public final class RunnerService extends Service {
  // Messages to the service.
  static final int MEASURE = 1;
  static final int CANCEL = 2;

  // Messages from it.
  static final int STARTED = 3; // arg1: id of its process
  static final int LOADING = 4; // FILE
  static final int PROGRESS = 5; // arg1, arg2: done and total; PHASE
  static final int DONE = 6; // the result is in the file that was asked for
  static final int FAILED = 7; // MESSAGE; FILE or, where it is to blame, ACCELERATOR
  static final int CANCELLED = 8;

  // Their fields.
  static final String BUNDLE = "bundle"; // its key in the library
  static final String PAIR = "pair";
  static final String SETTINGS = "settings";
  static final String LIMIT_MS = "limit_ms";
  static final String RESULT = "result"; // path of the file
  static final String PHASE = "phase";
  static final String FILE = "file";
  static final String ACCELERATOR = "accelerator";
  static final String MESSAGE = "message";

  private final Messenger messenger = new Messenger(new Handler(Looper.getMainLooper(), this::receive));
  private volatile boolean cancelled;

  /** The intent that binds it. */
  static Intent intent(Context context) {
    return new Intent(context, RunnerService.class);
  }

  @Override
  public IBinder onBind(Intent intent) {
    return messenger.getBinder();
  }

  private boolean receive(Message message) {
    if (message.what == CANCEL) {
      cancelled = true;
    } else if (message.what == MEASURE) {
      Bundle asked = message.getData();
      Messenger reply = message.replyTo;
      cancelled = false;
      new Thread(() -> measure(asked, reply), "measuring").start();
    }
    return true;
  }

  private void measure(Bundle asked, Messenger reply) {
    send(reply, STARTED, Process.myPid(), 0, new Bundle());
    try {
      measureOrThrow(asked, reply);
      send(reply, DONE, 0, 0, new Bundle());
    } catch (CancelledException error) {
      send(reply, CANCELLED, 0, 0, new Bundle());
    } catch (AcceleratorException error) {
      Bundle fields = fields(MESSAGE, error.getMessage());
      fields.putString(ACCELERATOR, error.accelerator.name());
      send(reply, FAILED, 0, 0, fields);
    } catch (ModelException error) {
      fail(reply, error.file, error.getMessage());
    } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError error) {
      Log.e(Autorun.TAG, "measuring", error);
      fail(reply, null, Words.problem(error));
    }
  }

  private void measureOrThrow(Bundle asked, Messenger reply)
      throws IOException, ModelException, CancelledException {
    BenchmarkApplication app = BenchmarkApplication.of(this);
    org.hsvit.benchmark.bundle.Bundle bundle = Library.open(app, asked.getString(BUNDLE));
    Pair pair = bundle.pair(asked.getString(PAIR));
    RunnerFactory telling =
        (model, source, settings) -> {
          send(reply, LOADING, 0, 0, fields(FILE, model.file));
          return app.phone.runners.open(model, source, settings);
        };
    Listener listener =
        new Listener() {
          @Override
          public void onProgress(Phase phase, int done, int total) {
            send(reply, PROGRESS, done, total, fields(PHASE, phase.name()));
          }

          @Override
          public boolean isCancelled() {
            return cancelled;
          }
        };
    asked.setClassLoader(Settings.class.getClassLoader()); // it came from another process
    Settings settings = (Settings) asked.getSerializable(SETTINGS);
    Benchmark benchmark = new Benchmark(bundle, telling, app.phone.decoder, app.phone.machine);
    StoredResult.write(
        benchmark.measure(pair, settings, asked.getLong(LIMIT_MS), listener),
        new File(asked.getString(RESULT)));
  }

  private void fail(Messenger reply, String file, String message) {
    Bundle fields = fields(MESSAGE, message);
    fields.putString(FILE, file);
    send(reply, FAILED, 0, 0, fields);
  }

  private static Bundle fields(String name, String value) {
    Bundle fields = new Bundle();
    fields.putString(name, value);
    return fields;
  }

  private void send(Messenger to, int what, int first, int second, Bundle fields) {
    Message message = Message.obtain(null, what, first, second);
    message.setData(fields);
    try {
      to.send(message);
    } catch (RemoteException error) {
      cancelled = true; // the app is gone
    }
  }
}
