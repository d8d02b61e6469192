package org.hsvit.benchmark.app;

import java.util.ArrayList;
import java.util.List;

/** Round numbers for an axis: multiples of 1, 2 or 5 times a power of ten. */
final class Ticks {
  private static final double[] STEPS = {1, 2, 5};

  private Ticks() {}

  /** Those from low to high: as many as there are with one step, but not more than given. */
  static List<Double> between(double low, double high, int most) {
    double power = Math.pow(10, Math.floor(Math.log10((high - low) / most)));
    for (int i = 0; ; i++) {
      double step = STEPS[i % STEPS.length] * power * Math.pow(10, i / STEPS.length);
      long first = (long) Math.ceil(low / step);
      long last = (long) Math.floor(high / step);
      if (last - first < most) {
        List<Double> ticks = new ArrayList<>();
        for (long tick = first; tick <= last; tick++) {
          ticks.add(tick * step);
        }
        return ticks;
      }
    }
  }
}
