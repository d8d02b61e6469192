package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;

/**
 * Turns pixels into what a model takes, bit for bit as {@code export/measuring/runners.py} does: in floats of
 * 32 bits, step by step. Not a part of a latency.
 */
public final class Preparation {
  private static final float SCALE = (float) (1.0 / 255);

  private Preparation() {}

  /**
   * A direct buffer in native byte order, to be handed to {@link Runner#run}.
   *
   * @throws IllegalArgumentException the picture's size or channels are not the model's
   */
  public static ByteBuffer prepare(Picture picture, ModelFile model) {
    checkSize(picture, model);
    Tensor.Type type = model.input.type;
    ByteBuffer prepared = ByteBuffer.allocateDirect(type.bytes * picture.pixels.length);
    prepared.order(ByteOrder.nativeOrder());
    for (int i = 0; i < picture.pixels.length; i++) {
      float value = value((picture.pixels[i] & 255) * SCALE, i % picture.channels, model);
      if (type == Tensor.Type.FLOAT32) {
        prepared.putFloat(4 * i, value);
      } else {
        prepared.put(i, (byte) level(value, model.input));
      }
    }
    return prepared;
  }

  /** Throws {@code IllegalArgumentException} if the picture's size or channels are not the model's. */
  static void checkSize(Picture picture, ModelFile model) {
    if (picture.height != model.height()
        || picture.width != model.width()
        || picture.channels != model.channels()) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "a picture of %d x %d x %d is not what %s takes, %d x %d x %d",
              picture.height,
              picture.width,
              picture.channels,
              model.file,
              model.height(),
              model.width(),
              model.channels()));
    }
  }

  private static float value(float brightness, int channel, ModelFile model) {
    if (model.pixels) {
      return 255 * brightness;
    }
    return (brightness - of(model.mean, channel)) / of(model.std, channel);
  }

  private static float of(List<Double> values, int channel) {
    return values.get(values.size() == 1 ? 0 : channel).floatValue();
  }

  /** Rounded to the tensor's grid, ties to even, and clipped to the range of its type. */
  private static int level(float value, Tensor tensor) {
    float steps = (float) Math.rint(tensor.scale == 0 ? value : value / tensor.scale);
    return (int) Math.max(tensor.type.min, Math.min(tensor.type.max, steps + tensor.zeroPoint));
  }
}
