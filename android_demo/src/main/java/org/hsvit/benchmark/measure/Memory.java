package org.hsvit.benchmark.measure;

/** Memory of this process in bytes. */
public final class Memory {
  /** What is in memory now, also of mapped files. */
  public final long resident;

  /** The most that was in memory at any time. */
  public final long peak;

  public Memory(long resident, long peak) {
    this.resident = resident;
    this.peak = peak;
  }
}
