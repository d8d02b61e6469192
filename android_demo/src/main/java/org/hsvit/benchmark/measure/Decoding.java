package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.Tensor;

/** Reads a model's output as floats, bit for bit as {@code hsvit_runtime/runnable.py} does. */
public final class Decoding {
  private Decoding() {}

  /**
   * The numbers of an output: floats unchanged, integers as the numbers that they stand for.
   *
   * @param output in native byte order, read from its start
   */
  public static float[] decode(ByteBuffer output, Tensor tensor) {
    float[] values = new float[tensor.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = tensor.type == Tensor.Type.FLOAT32 ? output.getFloat(4 * i) : value(output.get(i), tensor);
    }
    return values;
  }

  private static float value(byte stored, Tensor tensor) {
    int level = tensor.type == Tensor.Type.UINT8 ? stored & 255 : stored;
    return tensor.scale == 0 ? level : (level - tensor.zeroPoint) * tensor.scale;
  }
}
