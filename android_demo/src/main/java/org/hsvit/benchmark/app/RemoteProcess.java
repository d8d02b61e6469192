package org.hsvit.benchmark.app;

import android.content.ComponentName;
import android.content.Context;
import android.content.ServiceConnection;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.Process;
import android.os.RemoteException;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.Listener.Phase;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.StoredObject;

/** Does each work in a new process, by {@link RunnerService}, and outlives its crash. */
final class RemoteProcess implements Isolation {
  private static final long POLL_MS = 50;
  private static final long START_MS = 30_000;
  private static final long PATIENCE_MS = 10_000; // with a process that is to end

  private final Context context;

  RemoteProcess(Context context) {
    this.context = context;
  }

  /** One after the other: there is one process of this name. */
  @Override
  public synchronized <T extends Serializable> T run(
      Work<T> work, org.hsvit.benchmark.bundle.Bundle bundle, Listener listener)
      throws ModelException, CancelledException, IOException {
    File asked = new File(context.getCacheDir(), "work.bin");
    File result = new File(context.getCacheDir(), "result.bin");
    result.delete();
    StoredObject.write(work, asked);
    try (Connection connection = new Connection(work.doing())) {
      connection.await(asked, result, listener);
      @SuppressWarnings("unchecked") // it is what the same work gave
      T answer = (T) valueOf((Outcome) StoredObject.read(result, bundle));
      return answer;
    } catch (InterruptedException error) {
      throw new CancelledException();
    } finally {
      asked.delete();
      result.delete();
    }
  }

  /** What a work gave, or why it gave nothing. */
  static final class Outcome implements Serializable {
    private final Serializable value;
    private final Exception failure;

    Outcome(Serializable value, Exception failure) {
      this.value = value;
      this.failure = failure;
    }
  }

  private static Serializable valueOf(Outcome outcome)
      throws ModelException, CancelledException, IOException {
    if (outcome.failure instanceof ModelException) {
      throw (ModelException) outcome.failure;
    } else if (outcome.failure instanceof CancelledException) {
      throw (CancelledException) outcome.failure;
    } else if (outcome.failure != null) {
      throw (IOException) outcome.failure;
    }
    return outcome.value;
  }

  /** A process from its start to its end. Messages come on the main thread; the measuring thread waits for them. */
  private final class Connection implements ServiceConnection, AutoCloseable {
    private static final int CONNECTED = 100;
    private static final int DIED = 101;

    private final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
    private final Messenger own = new Messenger(new Handler(Looper.getMainLooper(), this::keep));
    private Messenger service;
    private int process;
    private boolean ended;
    private String doing;

    Connection(String doing) throws ModelException {
      this.doing = doing;
      // Important: it belongs to the screen in front, so Android gives it the same cores.
      int flags = Context.BIND_AUTO_CREATE | Context.BIND_IMPORTANT;
      if (!context.bindService(RunnerService.intent(context), this, flags)) {
        context.unbindService(this);
        throw new ModelException(null, "its process does not start");
      }
    }

    /** Messages are recycled after they were handled, so a copy is kept. */
    private boolean keep(Message message) {
      return messages.add(Message.obtain(message));
    }

    @Override
    public void onServiceConnected(ComponentName name, IBinder binder) {
      try {
        binder.linkToDeath(() -> messages.add(Message.obtain(null, DIED)), 0);
        messages.add(Message.obtain(null, CONNECTED, binder));
      } catch (RemoteException error) {
        messages.add(Message.obtain(null, DIED));
      }
    }

    @Override
    public void onServiceDisconnected(ComponentName name) {
      messages.add(Message.obtain(null, DIED));
    }

    /** Waits for the end of the work. */
    void await(File asked, File result, Listener listener)
        throws ModelException, CancelledException, InterruptedException {
      long deadline = now() + START_MS;
      boolean cancelling = false;
      while (true) {
        Message message = messages.poll(POLL_MS, TimeUnit.MILLISECONDS);
        if (message != null && receive(message, asked, result, listener)) {
          return;
        }
        if (!cancelling && listener.isCancelled()) {
          cancelling = true;
          deadline = now() + PATIENCE_MS;
          send(RunnerService.CANCEL, null);
        }
        boolean late = now() > deadline;
        if (cancelling && (late || service == null)) {
          throw new CancelledException();
        } else if (late && process == 0) {
          throw new ModelException(null, "its process did not start in " + START_MS / 1000 + " s");
        }
      }
    }

    private long now() {
      return System.nanoTime() / 1_000_000;
    }

    /** Whether the work is done. */
    private boolean receive(Message message, File asked, File result, Listener listener)
        throws ModelException {
      Bundle fields = message.getData();
      switch (message.what) {
        case CONNECTED:
          service = new Messenger((IBinder) message.obj);
          Bundle files = new Bundle();
          files.putString(RunnerService.WORK, asked.getPath());
          files.putString(RunnerService.RESULT, result.getPath());
          send(RunnerService.START, files);
          return false;
        case RunnerService.STARTED:
          process = message.arg1;
          return false;
        case RunnerService.LOADING:
          doing = "loading " + fields.getString(RunnerService.FILE);
          return false;
        case RunnerService.PROGRESS:
          Phase phase = Phase.valueOf(fields.getString(RunnerService.PHASE));
          doing = phase.doing;
          listener.onProgress(phase, message.arg1, message.arg2);
          return false;
        case RunnerService.DONE:
          return true;
        case RunnerService.FAILED:
          throw new ModelException(null, fields.getString(RunnerService.MESSAGE));
        default:
          ended = true;
          throw new ModelException(null, "its process crashed while " + doing);
      }
    }

    private void send(int what, Bundle fields) {
      if (service == null) {
        return;
      }
      Message message = Message.obtain(null, what);
      message.setData(fields);
      message.replyTo = own;
      try {
        service.send(message);
      } catch (RemoteException error) {
        messages.add(Message.obtain(null, DIED));
      }
    }

    /** Ends the process, so that the next work has a new one. */
    @Override
    public void close() {
      context.unbindService(this);
      if (process != 0 && process != Process.myPid() && !ended) {
        Process.killProcess(process);
        awaitDeath();
      }
    }

    private void awaitDeath() {
      long deadline = now() + PATIENCE_MS;
      try {
        while (now() < deadline) {
          Message message = messages.poll(POLL_MS, TimeUnit.MILLISECONDS);
          if (message != null && message.what == DIED) {
            return;
          }
        }
      } catch (InterruptedException error) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
