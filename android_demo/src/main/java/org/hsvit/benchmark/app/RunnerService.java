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
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.measure.StoredObject;

/**
 * Does one {@link Work} in a process of its own, {@code :runner}: a runtime or driver that crashes ends this process
 * and not the app. {@link RemoteProcess} is its other side.
 */
public final class RunnerService extends Service {
  // Messages to the service.
  static final int START = 1; // WORK, RESULT
  static final int CANCEL = 2;

  // Messages from it.
  static final int STARTED = 3; // arg1: id of its process
  static final int LOADING = 4; // FILE
  static final int PROGRESS = 5; // arg1, arg2: done and total; PHASE
  static final int DONE = 6; // the outcome is in the file that was asked for
  static final int FAILED = 7; // MESSAGE: there is no outcome

  // Their fields.
  static final String WORK = "work"; // path of its file
  static final String RESULT = "result"; // path of a file
  static final String PHASE = "phase";
  static final String FILE = "file";
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
    } else if (message.what == START) {
      Bundle asked = message.getData();
      Messenger reply = message.replyTo;
      cancelled = false;
      new Thread(() -> work(asked, reply), "measuring").start();
    }
    return true;
  }

  private void work(Bundle asked, Messenger reply) {
    send(reply, STARTED, Process.myPid(), 0, new Bundle());
    try {
      Work<?> work = (Work<?>) StoredObject.read(new File(asked.getString(WORK)), null);
      StoredObject.write(outcome(work, reply), new File(asked.getString(RESULT)));
      send(reply, DONE, 0, 0, new Bundle());
    } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError error) {
      Log.e(Autorun.TAG, "working", error);
      send(reply, FAILED, 0, 0, fields(MESSAGE, Words.problem(error)));
    }
  }

  private RemoteProcess.Outcome outcome(Work<?> work, Messenger reply) {
    BenchmarkApplication app = BenchmarkApplication.of(this);
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
    try {
      return new RemoteProcess.Outcome(work.run(app, telling, listener), null);
    } catch (ModelException | CancelledException | IOException error) {
      return new RemoteProcess.Outcome(null, error);
    }
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
