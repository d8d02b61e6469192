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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.AcceleratorException;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.Listener.Phase;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.PairMeasurer;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.measure.StoredResult;

/** Measures each pair in a new process, by {@link RunnerService}, and outlives its crash. */
final class RemoteMeasurer implements PairMeasurer {
  private static final long POLL_MS = 50;
  private static final long START_MS = 30_000;
  private static final long PATIENCE_MS = 10_000; // with a process that is to end

  private final Context context;
  private final org.hsvit.benchmark.bundle.Bundle bundle;
  private final String key;

  /**
   * @param key of the bundle in {@link Library}
   */
  RemoteMeasurer(Context context, org.hsvit.benchmark.bundle.Bundle bundle, String key) {
    this.context = context;
    this.bundle = bundle;
    this.key = key;
  }

  @Override
  public PairResult measure(Pair pair, Settings settings, long limitMs, Listener listener)
      throws ModelException, CancelledException {
    File result = new File(context.getCacheDir(), "result.bin");
    result.delete();
    Bundle asked = new Bundle();
    asked.putString(RunnerService.BUNDLE, key);
    asked.putString(RunnerService.PAIR, pair.name);
    asked.putSerializable(RunnerService.SETTINGS, settings);
    asked.putLong(RunnerService.LIMIT_MS, limitMs);
    asked.putString(RunnerService.RESULT, result.getPath());
    try (Connection connection = new Connection()) {
      connection.await(asked, listener);
      return StoredResult.read(result, bundle);
    } catch (InterruptedException error) {
      throw new CancelledException();
    } catch (IOException error) {
      throw new ModelException(null, "its result cannot be read: " + error.getMessage(), error);
    } finally {
      result.delete();
    }
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
    private String doing = "starting";

    Connection() throws ModelException {
      // Important: it belongs to the screen in front, so Android gives it the same cores.
      int flags = Context.BIND_AUTO_CREATE | Context.BIND_IMPORTANT;
      if (!context.bindService(RunnerService.intent(context), this, flags)) {
        context.unbindService(this);
        throw new ModelException(null, "the process that measures does not start");
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

    /** Waits for the end of a measurement. */
    void await(Bundle asked, Listener listener)
        throws ModelException, CancelledException, InterruptedException {
      long deadline = now() + START_MS;
      boolean cancelling = false;
      while (true) {
        Message message = messages.poll(POLL_MS, TimeUnit.MILLISECONDS);
        if (message != null && receive(message, asked, listener)) {
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
          throw new ModelException(null, "the process that measures did not start in " + START_MS / 1000 + " s");
        }
      }
    }

    private long now() {
      return System.nanoTime() / 1_000_000;
    }

    /** Whether the measurement is done. */
    private boolean receive(Message message, Bundle asked, Listener listener)
        throws ModelException, CancelledException {
      Bundle fields = message.getData();
      switch (message.what) {
        case CONNECTED:
          service = new Messenger((IBinder) message.obj);
          send(RunnerService.MEASURE, asked);
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
        case RunnerService.CANCELLED:
          throw new CancelledException();
        case RunnerService.FAILED:
          throw failure(fields);
        default:
          ended = true;
          throw new ModelException(null, "the process that measures crashed while " + doing);
      }
    }

    private ModelException failure(Bundle fields) {
      String message = fields.getString(RunnerService.MESSAGE);
      String accelerator = fields.getString(RunnerService.ACCELERATOR);
      return accelerator == null
          ? new ModelException(fields.getString(RunnerService.FILE), message)
          : new AcceleratorException(Accelerator.valueOf(accelerator), message, null);
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

    /** Ends the process, so that the next pair has a new one. */
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
