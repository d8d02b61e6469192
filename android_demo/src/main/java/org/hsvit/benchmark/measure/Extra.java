package org.hsvit.benchmark.measure;

import java.io.Serializable;
import java.util.List;

/** What is measured of a model besides its latency. Null stands for what was not asked for. */
public final class Extra implements Serializable {
  /** Median latency on the CPU, milliseconds, of a model that an accelerator was asked to run. */
  public final Double cpuMs;

  /** Its latency with each number of threads, from one to as many as there are cores. */
  public final List<ThreadTime> threads;

  /** Its latency over minutes without a pause. */
  public final List<SustainedTime> sustained;

  /** The latency of each kind of operation; null where the bundle does not have them cut out. */
  public final List<KindTime> kinds;

  Extra(Double cpuMs, List<KindTime> kinds, List<ThreadTime> threads, List<SustainedTime> sustained) {
    this.cpuMs = cpuMs;
    this.kinds = kinds;
    this.threads = threads;
    this.sustained = sustained;
  }
}
