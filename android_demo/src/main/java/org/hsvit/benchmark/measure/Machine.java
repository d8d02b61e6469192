package org.hsvit.benchmark.measure;

import java.util.List;

/** Clocks and state of the machine that measures. */
public interface Machine {
  /** A clock that never goes back, nanoseconds. */
  long nanoTime();

  /** CPU time of this process, all its threads together, nanoseconds. */
  long cpuNanos();

  /** Waits, milliseconds. */
  void sleep(long milliseconds) throws InterruptedException;

  State state();

  /** Memory of this process; null where it is not known. */
  Memory memory();

  /** How many cores there are. */
  int cores();

  /** Asks for all threads of this process to run on these cores alone, which the system may refuse. */
  void bind(List<Integer> cores);

  /** The cores that threads of this process may run on, in order; null where it is not known. */
  List<Integer> allowedCores();
}
