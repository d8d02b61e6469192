package org.hsvit.benchmark.device;

import android.content.Context;
import android.os.Process;
import org.hsvit.benchmark.measure.Machine;
import org.hsvit.benchmark.measure.State;

/** The clocks and the state of this phone. */
public final class AndroidMachine implements Machine {
  private final Context context;

  public AndroidMachine(Context context) {
    this.context = context;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long cpuNanos() {
    return 1_000_000 * Process.getElapsedCpuTime();
  }

  @Override
  public void sleep(long milliseconds) throws InterruptedException {
    Thread.sleep(milliseconds);
  }

  @Override
  public State state() {
    return DeviceState.read(context);
  }

  @Override
  public int cores() {
    return Runtime.getRuntime().availableProcessors();
  }
}
