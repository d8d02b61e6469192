package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** How fast a model was in one stretch of minutes without a pause, and how warm the phone was then. */
public final class SustainedTime implements Serializable {
  /** When the stretch ended, seconds since the first one began. */
  public final double seconds;

  /** Its runs. */
  public final int runs;

  /** Their median, milliseconds. */
  public final double p50;

  /** The phone's state at its end. */
  public final State state;

  public SustainedTime(double seconds, int runs, double p50, State state) {
    this.seconds = seconds;
    this.runs = runs;
    this.p50 = p50;
    this.state = state;
  }
}
