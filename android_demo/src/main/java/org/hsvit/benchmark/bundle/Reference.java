package org.hsvit.benchmark.bundle;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The correct outputs of a model for the images of its bundle, in a file that is read when they are needed. */
public final class Reference {
  /** A row of floats for each image, little-endian. */
  final String file;

  /** Of the file, 64 hexadecimal digits. */
  private final String sha256;

  private final int images;
  private final int size;

  /**
   * The largest difference of one number that counts as correct, for each output. Null where boxes may change
   * places: there the boxes that are kept have to be the same.
   */
  public final Double[] limits;

  /** What computed them, such as {@code keras 3.15.0}. */
  public final String runtime;

  Reference(String file, String sha256, int images, int size, Double[] limits, String runtime) {
    this.file = file;
    this.sha256 = sha256;
    this.images = images;
    this.size = size;
    this.limits = limits;
    this.runtime = runtime;
  }

  /**
   * Reads the correct outputs: a row for each image, see {@link Part}.
   *
   * @throws BundleException the file is not the one that the bundle is about
   * @throws IOException it cannot be read
   */
  public float[][] read(BundleSource source) throws IOException {
    byte[] bytes = Contents.read(source, file);
    Contents.check(file, ByteBuffer.wrap(bytes), 4L * images * size, sha256);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    float[][] rows = new float[images][size];
    for (float[] row : rows) {
      for (int i = 0; i < size; i++) {
        row[i] = buffer.getFloat();
      }
    }
    return rows;
  }
}
