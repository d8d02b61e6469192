package org.hsvit.benchmark.measure;

import java.util.Arrays;

/**
 * Resizes pictures bilinearly with antialiasing, bit for bit as Pillow does in training: {@code
 * ImageOps.fit(image, size, BILINEAR)}.
 *
 * <p>A new pixel is a mean of the pixels that it covers, with the weights of a triangle filter; first along
 * rows, then along columns, in fixed point with 22 bits. (Pillow 13 starts with columns where a picture is
 * much taller than wide: some of its pixels differ by one level of 255.)
 */
public final class Resizing {
  private static final int BITS = 22;

  private Resizing() {}

  /** Crops the largest centred part with the aspect of the new size, and resizes it. */
  public static Picture fit(Picture picture, int height, int width) {
    double aspect = (double) width / height;
    double cropWidth = Math.min(picture.width, aspect * picture.height);
    double cropHeight = Math.min(picture.height, picture.width / aspect);
    double left = (picture.width - cropWidth) * 0.5;
    double top = (picture.height - cropHeight) * 0.5;
    Weights columns = new Weights(picture.width, (float) left, (float) (left + cropWidth), width);
    Weights rows = new Weights(picture.height, (float) top, (float) (top + cropHeight), height);
    return alongColumns(alongRows(picture, columns), rows);
  }

  private static Picture alongRows(Picture picture, Weights weights) {
    int channels = picture.channels;
    byte[] resized = new byte[picture.height * weights.size() * channels];
    for (int y = 0, at = 0; y < picture.height; y++) {
      for (int x = 0; x < weights.size(); x++) {
        for (int channel = 0; channel < channels; channel++) {
          int start = (y * picture.width + weights.first[x]) * channels + channel;
          resized[at++] = weights.mean(picture.pixels, start, channels, x);
        }
      }
    }
    return new Picture(picture.height, weights.size(), channels, resized);
  }

  private static Picture alongColumns(Picture picture, Weights weights) {
    int row = picture.width * picture.channels;
    byte[] resized = new byte[weights.size() * row];
    for (int y = 0, at = 0; y < weights.size(); y++) {
      for (int x = 0; x < row; x++) {
        resized[at++] = weights.mean(picture.pixels, weights.first[y] * row + x, row, y);
      }
    }
    return new Picture(weights.size(), picture.width, picture.channels, resized);
  }

  /** The pixels of a line that a new pixel is computed from, and their weights. */
  private static final class Weights {
    final int[] first;
    private final int[][] weights;

    /**
     * @param count pixels in the line
     * @param from start of the cropped part
     * @param to end of the cropped part
     * @param size number of new pixels
     */
    Weights(int count, float from, float to, int size) {
      first = new int[size];
      weights = new int[size][];
      double scale = (double) (to - from) / size;
      double support = Math.max(1, scale);
      for (int i = 0; i < size; i++) {
        double center = from + (i + 0.5) * scale;
        first[i] = Math.max(0, (int) (center - support + 0.5));
        int end = Math.min(count, (int) (center + support + 0.5));
        weights[i] = triangle(first[i] - center + 0.5, end - first[i], 1 / support);
      }
    }

    private static int[] triangle(double start, int count, double step) {
      double[] values = new double[count];
      double sum = 0;
      for (int i = 0; i < count; i++) {
        values[i] = Math.max(0, 1 - Math.abs((start + i) * step));
        sum += values[i];
      }
      double whole = sum;
      return Arrays.stream(values).mapToInt(value -> (int) (0.5 + value / whole * (1 << BITS))).toArray();
    }

    int size() {
      return first.length;
    }

    byte mean(byte[] pixels, int start, int stride, int i) {
      int sum = 1 << (BITS - 1);
      for (int weight : weights[i]) {
        sum += weight * (pixels[start] & 255);
        start += stride;
      }
      return (byte) Math.min(255, sum >> BITS);
    }
  }
}
