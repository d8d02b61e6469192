package org.hsvit.benchmark.device;

import static android.os.BatteryManager.EXTRA_TEMPERATURE;

import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.os.BatteryManager;
import android.os.Build;
import android.os.PowerManager;
import org.hsvit.benchmark.measure.State;

/** Reads the state that changes while measuring: heat, battery, power saving. */
public final class DeviceState {
  private DeviceState() {}

  public static State read(Context context) {
    PowerManager power = context.getSystemService(PowerManager.class);
    BatteryManager battery = context.getSystemService(BatteryManager.class);
    return new State(
        System.currentTimeMillis(),
        Build.VERSION.SDK_INT >= 29 ? power.getCurrentThermalStatus() : null,
        Build.VERSION.SDK_INT >= 30 ? headroom(power) : null,
        percent(battery),
        celsius(context),
        battery.isCharging(),
        power.isPowerSaveMode());
  }

  private static Double headroom(PowerManager power) {
    return finite(Build.VERSION.SDK_INT >= 30 ? power.getThermalHeadroom(0) : Float.NaN);
  }

  /** Null for NaN, where the phone has no sensor or was asked twice within a second, and for infinity. */
  static Double finite(float value) {
    return Float.isNaN(value) || Float.isInfinite(value) ? null : (double) value;
  }

  private static Double celsius(Context context) {
    Intent latest = context.registerReceiver(null, new IntentFilter(Intent.ACTION_BATTERY_CHANGED));
    int tenths = latest == null ? Integer.MIN_VALUE : latest.getIntExtra(EXTRA_TEMPERATURE, Integer.MIN_VALUE);
    return tenths == Integer.MIN_VALUE ? null : tenths / 10.0;
  }

  private static Double percent(BatteryManager battery) {
    int percent = battery.getIntProperty(BatteryManager.BATTERY_PROPERTY_CAPACITY);
    return percent < 0 || percent > 100 ? null : (double) percent;
  }
}
