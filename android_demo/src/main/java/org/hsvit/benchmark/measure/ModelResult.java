package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.bundle.ModelFile;

/** What was measured of one model. Times are in milliseconds. */
public final class ModelResult {
  public final ModelFile model;
  public final String runtimeName;
  public final String runtimeVersion;
  public final String delegate;

  /** What ran it for certain; null where the runtime does not tell. */
  public final Accelerator used;

  public final double initMs;

  /** The very first run. */
  public final double firstInferenceMs;

  /** Mean of the runs that do not count; null without any. */
  public final Double warmupMeanMs;

  /** Every counted run, one row for each block, in the order of time. */
  public final double[][] blocksMs;

  /** Of all counted runs together. */
  public final Summary latency;

  /** CPU time of the process over time passed in the counted runs. */
  public final double busyCores;

  /** Null where nobody has the right answers: then nothing was checked. */
  public final ReferenceCheck reference;

  /** Answers that hold NaN or infinity. */
  public final int notFinite;

  /** Answers that were looked at. */
  public final int images;

  /** Share of right answers to the bundle's images; null without labels. */
  public final Double accuracy;

  ModelResult(
      ModelFile model,
      Runner runner,
      double firstInferenceMs,
      Double warmupMeanMs,
      double[][] blocksMs,
      Summary latency,
      double busyCores,
      ReferenceCheck reference,
      int notFinite,
      int images,
      Double accuracy) {
    this.model = model;
    this.runtimeName = runner.runtimeName();
    this.runtimeVersion = runner.runtimeVersion();
    this.delegate = runner.delegate();
    this.used = runner.used();
    this.initMs = runner.initMs();
    this.firstInferenceMs = firstInferenceMs;
    this.warmupMeanMs = warmupMeanMs;
    this.blocksMs = blocksMs;
    this.latency = latency;
    this.busyCores = busyCores;
    this.reference = reference;
    this.notFinite = notFinite;
    this.images = images;
    this.accuracy = accuracy;
  }

  /** Whether it is known to have answered wrongly: then its speed is worth nothing. */
  public boolean isWrong() {
    return notFinite > 0 || (reference != null && !reference.isRight());
  }
}
