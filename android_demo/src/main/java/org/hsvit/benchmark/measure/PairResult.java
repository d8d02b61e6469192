package org.hsvit.benchmark.measure;

import java.io.Serializable;
import org.hsvit.benchmark.bundle.Pair;

/** The measurements of a pair. */
public final class PairResult implements Serializable {
  public final Pair pair;
  public final ModelResult original;
  public final ModelResult mobile;
  public final Ratio ratio;

  /** Null where there are no images, or an output is not finite. */
  public final Agreement agreement;

  public final State before;
  public final State after;

  PairResult(
      Pair pair,
      ModelResult original,
      ModelResult mobile,
      Ratio ratio,
      Agreement agreement,
      State before,
      State after) {
    this.pair = pair;
    this.original = original;
    this.mobile = mobile;
    this.ratio = ratio;
    this.agreement = agreement;
    this.before = before;
    this.after = after;
  }
}
