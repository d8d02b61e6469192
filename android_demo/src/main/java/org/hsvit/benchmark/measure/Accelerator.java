package org.hsvit.benchmark.measure;

import java.util.Locale;

/** What is asked to run a model. */
public enum Accelerator {
  /** The CPU, by XNNPACK's kernels. */
  CPU,

  /** Whatever the phone's driver offers through NNAPI, but not NNAPI's own slow CPU kernels. */
  NPU;

  /** Its name in reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
