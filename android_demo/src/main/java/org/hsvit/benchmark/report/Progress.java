package org.hsvit.benchmark.report;

import org.hsvit.benchmark.measure.Listener.Phase;

/** How far a session is. */
public final class Progress {
  /** Which pair is measured, counted from 0. */
  public final int pair;

  /** What happens to it. */
  public final Phase phase;

  /** Finished blocks and checked outputs of all pairs. */
  public final int done;

  /** All of them. */
  public final int total;

  /** Milliseconds until the end, about; null where nothing was measured yet. */
  public final Long leftMs;

  Progress(int pair, Phase phase, int done, int total, Long leftMs) {
    this.pair = pair;
    this.phase = phase;
    this.done = done;
    this.total = total;
    this.leftMs = leftMs;
  }
}
