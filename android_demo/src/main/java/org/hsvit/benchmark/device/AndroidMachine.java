package org.hsvit.benchmark.device;

import android.content.Context;
import android.os.Process;
import java.io.File;
import java.util.List;
import org.hsvit.benchmark.measure.Machine;
import org.hsvit.benchmark.measure.Memory;
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
  public Memory memory() {
    return ProcessFiles.memory(new File("/proc/self/status"));
  }

  @Override
  public int cores() {
    return Runtime.getRuntime().availableProcessors();
  }

  @Override
  public void bind(List<Integer> cores) {
    Affinity.bind(String.valueOf(Process.myPid()), cores);
  }

  @Override
  public List<Integer> allowedCores() {
    return Affinity.allowed(new File("/proc/self/task"));
  }
}
