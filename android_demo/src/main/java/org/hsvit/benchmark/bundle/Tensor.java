package org.hsvit.benchmark.bundle;

/** An input or an output of a model. */
public final class Tensor {
  /** Number formats that the app supports. */
  public enum Type {
    FLOAT32(4, 0, 0),
    INT8(1, -128, 127),
    UINT8(1, 0, 255);

    /** Size of one number, bytes. */
    public final int bytes;

    /** Smallest and largest number; both 0 for floats. */
    public final int min;

    public final int max;

    Type(int bytes, int min, int max) {
      this.bytes = bytes;
      this.min = min;
      this.max = max;
    }

    /** Its name in bundles and reports, {@code float32}. */
    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  public final String name;
  public final int[] shape;
  public final Type type;

  /** An integer q stands for {@code (q - zeroPoint) * scale}; 0 where numbers stand for themselves. */
  public final float scale;

  public final int zeroPoint;

  public Tensor(String name, int[] shape, Type type, float scale, int zeroPoint) {
    this.name = name;
    this.shape = shape;
    this.type = type;
    this.scale = scale;
    this.zeroPoint = zeroPoint;
  }

  /** How many numbers it holds. */
  public int elements() {
    int count = 1;
    for (int size : shape) {
      count *= size;
    }
    return count;
  }
}
