package org.hsvit.benchmark.bundle;

import java.io.IOException;

/** A bundle that cannot be used. The message is for the user and names file, field and value. */
public final class BundleException extends IOException {
  public BundleException(String message) {
    super(message);
  }

  public BundleException(String message, Throwable cause) {
    super(message, cause);
  }
}
