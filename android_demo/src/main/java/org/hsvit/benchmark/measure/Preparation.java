package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Random;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;

/**
 * Turns pixels into a model's input, bit for bit as {@code hsvit_runtime} does it in Python: in floats of 32
 * bits, mapped to the model's input range, then rounded to the levels of an integer input. Not timed.
 */
public final class Preparation {
  private Preparation() {}

  /**
   * The input for {@link Runner#run}: a direct buffer in native byte order.
   *
   * @throws IllegalArgumentException the picture's size or channels are not the model's
   */
  public static ByteBuffer prepare(Picture picture, ModelFile model) {
    checkSize(picture, model);
    Tensor.Type type = model.input.type;
    ByteBuffer prepared = ByteBuffer.allocateDirect(type.bytes * picture.pixels.length);
    prepared.order(ByteOrder.nativeOrder());
    float low = (float) model.range.low;
    float step = (float) ((model.range.high - model.range.low) / 255);
    for (int i = 0; i < picture.pixels.length; i++) {
      float value = low + (picture.pixels[i] & 255) * step;
      if (type == Tensor.Type.FLOAT32) {
        prepared.putFloat(4 * i, value);
      } else {
        prepared.put(i, (byte) level(value, model.input));
      }
    }
    return prepared;
  }

  /** An input of random pixels, the same each time. */
  static ByteBuffer noise(ModelFile model) {
    byte[] pixels = new byte[model.input.elements()];
    new Random(0).nextBytes(pixels);
    return prepare(new Picture(model.height(), model.width(), model.channels(), pixels), model);
  }

  /** Throws {@code IllegalArgumentException} if the picture's size or channels are not the model's. */
  static void checkSize(Picture picture, ModelFile model) {
    if (picture.height != model.height()
        || picture.width != model.width()
        || picture.channels != model.channels()) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "a picture of %d x %d x %d does not fit %s, which takes %d x %d x %d",
              picture.height,
              picture.width,
              picture.channels,
              model.file,
              model.height(),
              model.width(),
              model.channels()));
    }
  }

  /** The nearest level of the tensor, ties to even, clipped to the limits of its type. */
  private static int level(float value, Tensor tensor) {
    float steps = (float) Math.rint(tensor.scale == 0 ? value : value / tensor.scale);
    return (int) Math.max(tensor.type.min, Math.min(tensor.type.max, steps + tensor.zeroPoint));
  }
}
