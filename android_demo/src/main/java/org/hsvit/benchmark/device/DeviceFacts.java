package org.hsvit.benchmark.device;

import android.content.Context;
import org.hsvit.benchmark.report.Device;

/** Reads what does not change while measuring: the phone, its system, this app. */
public final class DeviceFacts {
  private DeviceFacts() {}

  public static Device read(Context context) {
    throw new UnsupportedOperationException();
  }
}
