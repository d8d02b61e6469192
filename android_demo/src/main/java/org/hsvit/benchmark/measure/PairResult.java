package org.hsvit.benchmark.measure;

import java.io.Serializable;
import java.util.List;
import org.hsvit.benchmark.bundle.Pair;

/** The measurements of a pair. */
public final class PairResult implements Serializable {
  public final Pair pair;
  public final ModelResult original;
  public final ModelResult mobile;
  public final Ratio ratio;

  /** Null where there are no images, or an output is not finite. */
  public final Agreement agreement;

  /** How long a warm phone was waited for before, seconds. */
  public final int cooledS;

  /** States while the blocks were timed, at most one a second. */
  public final List<State> during;

  public final State before;
  public final State after;

  /** The cores that threads could run on at the end; null where all were asked for, or it is not known. */
  public final List<Integer> cores;

  /** Null where it was not measured. */
  public final ModelMemory memoryOfOriginal;

  public final ModelMemory memoryOfMobile;

  PairResult(
      Pair pair,
      ModelResult original,
      ModelResult mobile,
      Ratio ratio,
      Agreement agreement,
      int cooledS,
      List<State> during,
      State before,
      State after,
      List<Integer> cores,
      ModelMemory memoryOfOriginal,
      ModelMemory memoryOfMobile) {
    this.pair = pair;
    this.original = original;
    this.mobile = mobile;
    this.ratio = ratio;
    this.agreement = agreement;
    this.cooledS = cooledS;
    this.during = during;
    this.before = before;
    this.after = after;
    this.cores = cores;
    this.memoryOfOriginal = memoryOfOriginal;
    this.memoryOfMobile = memoryOfMobile;
  }

  /** The same with the models' memory. */
  PairResult withMemory(ModelMemory ofOriginal, ModelMemory ofMobile) {
    return new PairResult(
        pair,
        original,
        mobile,
        ratio,
        agreement,
        cooledS,
        during,
        before,
        after,
        cores,
        ofOriginal,
        ofMobile);
  }
}
