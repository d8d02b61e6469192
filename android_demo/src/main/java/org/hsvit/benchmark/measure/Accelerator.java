package org.hsvit.benchmark.measure;

import java.util.Locale;

/** What is asked to run a model. */
public enum Accelerator {
  /** The CPU, by XNNPACK's kernels or TensorFlow Lite's own. */
  CPU,

  /** The GPU, by TensorFlow Lite's delegate: OpenCL or, where a phone has none, OpenGL. */
  GPU,

  /**
   * Whatever the phone's driver offers through NNAPI, but not NNAPI's own slow CPU kernels. Android 15 has marked
   * NNAPI as deprecated.
   */
  NPU;

  /** Its name in reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
