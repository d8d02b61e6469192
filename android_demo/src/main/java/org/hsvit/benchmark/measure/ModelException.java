package org.hsvit.benchmark.measure;

/** A model that cannot be measured: damaged, refused by the runtime, or different from its bundle. */
public class ModelException extends Exception {
  /** The model's file name. */
  public final String file;

  /**
   * @param message for the user; names the file and what is wrong with it
   */
  public ModelException(String file, String message) {
    this(file, message, null);
  }

  public ModelException(String file, String message, Throwable cause) {
    super(message, cause);
    this.file = file;
  }
}
