package org.hsvit.benchmark.measure;

/** An accelerator that this phone does not have, or whose driver does not start: no model runs on it. */
public final class AcceleratorException extends ModelException {
  public final Accelerator accelerator;

  /**
   * @param message for the user: why it cannot be used
   */
  public AcceleratorException(Accelerator accelerator, String message, Throwable cause) {
    super(null, message, cause);
    this.accelerator = accelerator;
  }
}
