package org.hsvit.benchmark.device;

import android.content.Context;
import org.hsvit.benchmark.measure.State;

/** Reads what changes while measuring: heat, battery, power saving. */
public final class DeviceState {
  private DeviceState() {}

  public static State read(Context context) {
    throw new UnsupportedOperationException();
  }
}
