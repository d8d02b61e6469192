package org.hsvit.benchmark.measure;

import java.util.Arrays;

/**
 * Medians of blocks that are drawn again and again, as a bootstrap does.
 *
 * <p>All values are sorted once. The median of a draw is found by walking through them and counting each value
 * as often as its block was drawn, which gives the number that sorting every draw would.
 */
final class PooledMedian {
  private final double[] values;
  private final int[] blockOf;
  private final int[] sizes;

  /**
   * @param blocks not empty, each with at least one value
   */
  PooledMedian(double[][] blocks) {
    values = Arrays.stream(blocks).flatMapToDouble(Arrays::stream).sorted().toArray();
    blockOf = new int[values.length];
    sizes = new int[blocks.length];
    int[] taken = new int[values.length]; // by the values that are equal to the first one here
    for (int block = 0; block < blocks.length; block++) {
      sizes[block] = blocks[block].length;
      for (double value : blocks[block]) {
        int first = firstAt(value);
        blockOf[first + taken[first]++] = block;
      }
    }
  }

  private int firstAt(double value) {
    int low = 0;
    int high = values.length - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (values[middle] < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * The median of a draw.
   *
   * @param drawn indices of blocks, some of them more than once
   */
  double of(int[] drawn) {
    int[] times = new int[sizes.length];
    long count = 0;
    for (int block : drawn) {
      times[block]++;
      count += sizes[block];
    }
    int at = -1;
    long seen = 0;
    while (seen <= (count - 1) / 2) {
      seen += times[blockOf[++at]];
    }
    double low = values[at];
    while (seen <= count / 2) {
      seen += times[blockOf[++at]];
    }
    return (low + values[at]) / 2;
  }
}
