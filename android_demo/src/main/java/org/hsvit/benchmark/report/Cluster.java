package org.hsvit.benchmark.report;

import java.util.List;

/** Cores that share a clock. Null stands for what is not known. */
public final class Cluster {
  /** Their numbers. */
  public final List<Integer> cores;

  /** Their highest clock. */
  public final Integer maxMegahertz;

  /** Their speed as the system counts it: 1024 is that of the fastest core. */
  public final Integer capacity;

  public Cluster(List<Integer> cores, Integer maxMegahertz, Integer capacity) {
    this.cores = cores;
    this.maxMegahertz = maxMegahertz;
    this.capacity = capacity;
  }
}
