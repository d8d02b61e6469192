package org.hsvit.benchmark.measure;

/** The measuring ended because its {@link Listener} said so. */
public final class CancelledException extends Exception {
  public CancelledException() {
    super("cancelled");
  }
}
