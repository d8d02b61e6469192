package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** The state of the phone that may change while measuring. Null stands for what is not known. */
public final class State implements Serializable {
  private static final double WARM = 0.8; // of the headroom, which is about a half at rest

  /** Milliseconds since 1970. */
  public final long time;

  /** 0 none, 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown. */
  public final Integer thermalStatus;

  /** 1 is where throttling becomes severe. */
  public final Double thermalHeadroom;

  public final Double batteryPercent;

  /** Temperature of the battery, degrees Celsius. */
  public final Double batteryCelsius;

  public final Boolean charging;
  public final Boolean powerSave;

  public State(
      long time,
      Integer thermalStatus,
      Double thermalHeadroom,
      Double batteryPercent,
      Double batteryCelsius,
      Boolean charging,
      Boolean powerSave) {
    this.time = time;
    this.thermalStatus = thermalStatus;
    this.thermalHeadroom = thermalHeadroom;
    this.batteryPercent = batteryPercent;
    this.batteryCelsius = batteryCelsius;
    this.charging = charging;
    this.powerSave = powerSave;
  }

  /** Whether the phone is not known to be warm. */
  public boolean isCool() {
    boolean throttles = thermalStatus != null && thermalStatus > 0;
    return !throttles && (thermalHeadroom == null || thermalHeadroom < WARM);
  }
}
