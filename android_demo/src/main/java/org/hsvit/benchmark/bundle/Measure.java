package org.hsvit.benchmark.bundle;

/** A number by which outputs are judged or compared, such as accuracy. */
public final class Measure {
  /** Its key in files, such as {@code accuracy}. */
  public final String name;

  /** Its name on the screen. */
  public final String title;

  public final boolean higherIsBetter;

  /** Whether it is a share from 0 to 1, shown in percent. */
  public final boolean isShare;

  public Measure(String name, String title, boolean higherIsBetter, boolean isShare) {
    this.name = name;
    this.title = title;
    this.higherIsBetter = higherIsBetter;
    this.isShare = isShare;
  }
}
