package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** The state of the phone that may change while measuring. Null stands for what is not known. */
public final class State implements Serializable {
  /** Milliseconds since 1970. */
  public final long time;

  /** 0 none, 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown. */
  public final Integer thermalStatus;

  /** 1 is where throttling becomes severe. */
  public final Double thermalHeadroom;

  public final Double batteryPercent;
  public final Boolean charging;
  public final Boolean powerSave;

  public State(
      long time,
      Integer thermalStatus,
      Double thermalHeadroom,
      Double batteryPercent,
      Boolean charging,
      Boolean powerSave) {
    this.time = time;
    this.thermalStatus = thermalStatus;
    this.thermalHeadroom = thermalHeadroom;
    this.batteryPercent = batteryPercent;
    this.charging = charging;
    this.powerSave = powerSave;
  }
}
