package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.measure.Listener.Phase;

/** Pauses of a run: short ones before blocks, and the wait until a warm phone is cool. */
final class Cooling {
  private static final int STEP_MS = 50; // so that cancelling takes effect soon
  private static final int SECOND_MS = 1000; // phones tell their headroom once in a second

  private final Machine machine;
  private final Listener listener;

  Cooling(Machine machine, Listener listener) {
    this.machine = machine;
    this.listener = listener;
  }

  /**
   * Waits until the phone is cool.
   *
   * @param limitS the longest wait, seconds
   * @return how long it waited, seconds
   */
  int untilCool(int limitS) throws CancelledException {
    int waited = 0;
    while (waited < limitS && !machine.state().isCool()) {
      listener.onProgress(Phase.COOLING, waited, limitS);
      pause(SECOND_MS);
      waited++;
    }
    return waited;
  }

  void pause(int milliseconds) throws CancelledException {
    try {
      for (int left = milliseconds; left > 0; left -= STEP_MS) {
        if (listener.isCancelled()) {
          throw new CancelledException();
        }
        machine.sleep(Math.min(left, STEP_MS));
      }
    } catch (InterruptedException error) {
      throw new CancelledException();
    }
  }
}
