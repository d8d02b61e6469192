package org.hsvit.benchmark.measure;

/** Clocks and state of the machine that measures. */
public interface Machine {
  /** A clock that never goes back, nanoseconds. */
  long nanoTime();

  /** CPU time of this process, all its threads together, nanoseconds. */
  long cpuNanos();

  /** Waits, milliseconds. */
  void sleep(long milliseconds) throws InterruptedException;

  State state();

  /** How many cores there are. */
  int cores();
}
