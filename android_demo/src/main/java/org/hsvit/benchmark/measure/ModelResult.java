package org.hsvit.benchmark.measure;

import java.io.Serializable;
import java.util.Map;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.ModelFile;

/** The measurements of one model. Times are in milliseconds. */
public final class ModelResult implements Serializable {
  public final ModelFile model;
  public final String runtimeName;
  public final String runtimeVersion;
  public final String delegate;

  /** How much of the graph the delegate ran; null where it is not known. */
  public final Delegation delegation;

  /** Whether that is what the bundle says, as the runtime's log tells nothing. */
  public final boolean delegationFromBundle;

  /** What was asked to run the model. */
  public final Accelerator asked;

  /** What ran the model; null where the runtime does not say. */
  public final Accelerator used;

  public final double initMs;

  /** The very first run. */
  public final double firstInferenceMs;

  /** Mean of the warm-up runs; null without any. */
  public final Double warmupMeanMs;

  /** Every counted run, one row for each block, in the order of time. */
  public final double[][] blocksMs;

  /** Of all counted runs together. */
  public final Summary latency;

  /** CPU time of the process divided by elapsed time, in the counted runs. */
  public final double busyCores;

  /** Null where the correct outputs are not known. */
  public final ReferenceCheck reference;

  /** Samples whose output has NaN or infinity. */
  public final int notFinite;

  /** Images that the model was run on. */
  public final int samples;

  /** Metrics of the task on the bundle's images; empty without labels. */
  public final Map<String, Double> metrics;

  public final Extra extra;

  ModelResult(
      ModelFile model,
      Runner runner,
      Delegation delegation,
      Accelerator asked,
      double firstInferenceMs,
      Double warmupMeanMs,
      double[][] blocksMs,
      Summary latency,
      double busyCores,
      ReferenceCheck reference,
      int notFinite,
      int samples,
      Map<String, Double> metrics,
      Extra extra) {
    this.model = model;
    this.runtimeName = runner.runtimeName();
    this.runtimeVersion = runner.runtimeVersion();
    this.delegate = runner.delegate();
    this.delegation = delegation;
    this.delegationFromBundle = delegation != null && runner.delegation() == null;
    this.asked = asked;
    this.used = runner.used();
    this.initMs = runner.initMs();
    this.firstInferenceMs = firstInferenceMs;
    this.warmupMeanMs = warmupMeanMs;
    this.blocksMs = blocksMs;
    this.latency = latency;
    this.busyCores = busyCores;
    this.reference = reference;
    this.notFinite = notFinite;
    this.samples = samples;
    this.metrics = metrics;
    this.extra = extra;
  }

  /** Whether some outputs are known to be wrong: then its speed means nothing. */
  public boolean isWrong() {
    return notFinite > 0 || (reference != null && !reference.isRight());
  }
}
