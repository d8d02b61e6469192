package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;

/** Reads a model's output as floats, bit for bit as {@code hsvit_runtime/runnable.py} does. */
public final class Decoding {
  private Decoding() {}

  /**
   * The row of all outputs, one behind the other.
   *
   * @param outputs in native byte order, read from their starts
   */
  public static float[] decode(ByteBuffer[] outputs, ModelFile model) {
    float[] row = new float[model.rowSize()];
    for (int i = 0; i < outputs.length; i++) {
      float[] values = decode(outputs[i], model.outputs.get(i));
      System.arraycopy(values, 0, row, model.parts.get(i).start, values.length);
    }
    return row;
  }

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
