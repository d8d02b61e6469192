package org.hsvit.benchmark.measure;

/** Measuring ended because its {@link Listener} asked for it. */
public final class CancelledException extends Exception {
  public CancelledException() {
    super("cancelled");
  }
}
