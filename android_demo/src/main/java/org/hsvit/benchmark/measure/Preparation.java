package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.ModelFile;

/** Turns pixels into what a model takes, bit for bit as {@code export/measuring/runners.py} does. */
public final class Preparation {
  private Preparation() {}

  /**
   * A direct buffer in native byte order, to be handed to {@link Runner#run}.
   *
   * @throws IllegalArgumentException the picture's size or channels are not the model's
   */
  public static ByteBuffer prepare(Picture picture, ModelFile model) {
    throw new UnsupportedOperationException();
  }
}
