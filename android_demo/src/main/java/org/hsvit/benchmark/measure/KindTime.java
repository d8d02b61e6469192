package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** How long the operations of one kind take, cut out of a model and run alone. */
public final class KindTime implements Serializable {
  public final String kind;

  /** How many files they are in. */
  public final int files;

  /** Sum of the files' medians, milliseconds; null where one did not run. */
  public final Double p50;

  KindTime(String kind, int files, Double p50) {
    this.kind = kind;
    this.files = files;
    this.p50 = p50;
  }

  /** The same with one more file. */
  KindTime with(Double more) {
    return new KindTime(kind, files + 1, p50 == null || more == null ? null : (Double) (p50 + more));
  }
}
