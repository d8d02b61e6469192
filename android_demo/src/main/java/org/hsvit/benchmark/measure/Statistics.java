package org.hsvit.benchmark.measure;

import java.util.Arrays;
import org.hsvit.benchmark.bundle.Part;

/**
 * Statistics of latencies and of outputs, as Python computes them in {@code measuring} and {@code
 * hsvit_keras/tasks}.
 *
 * <p>Equal latencies give percentiles and ratios that are equal to the last digit.
 */
public final class Statistics {
  private static final double CONFIDENCE = 0.95;
  private static final int RESAMPLES = 2000;
  private static final int TOLD = 200; // of them

  private Statistics() {}

  /**
   * A summary of latencies.
   *
   * @param latencies not empty, milliseconds
   */
  public static Summary summarize(double[] latencies) {
    double[] sorted = latencies.clone();
    Arrays.sort(sorted);
    int count = sorted.length;
    double mean = Arrays.stream(sorted).sum() / count;
    double squares = Arrays.stream(sorted).map(value -> (value - mean) * (value - mean)).sum();
    return new Summary(
        count,
        percentile(sorted, 5),
        percentile(sorted, 50),
        percentile(sorted, 90),
        percentile(sorted, 95),
        percentile(sorted, 99),
        sorted[0],
        mean,
        sorted[count - 1],
        count > 1 ? Math.sqrt(squares / (count - 1)) : 0);
  }

  /**
   * A percentile: of n sorted values it lies at position {@code q / 100 * (n - 1)}, counted from 0, with
   * linear interpolation. Written as NumPy computes it, so that rounding is the same.
   */
  static double percentile(double[] sorted, double q) {
    double position = (sorted.length - 1) * (q / 100);
    int below = (int) Math.floor(position);
    double low = sorted[below];
    double high = sorted[Math.min(below + 1, sorted.length - 1)];
    double part = position - below;
    return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
  }

  /**
   * Median latency of {@code mobile} over that of {@code original}, with a bootstrap interval over paired
   * blocks: block i of both was measured side by side, so what disturbed one mostly disturbed the other.
   *
   * @param original blocks of latencies, milliseconds
   * @param mobile as many blocks
   * @throws CancelledException the listener asked for it
   */
  static Ratio ratioOfMedians(double[][] original, double[][] mobile, Listener listener)
      throws CancelledException {
    int count = original.length;
    PooledMedian ofOriginal = new PooledMedian(original);
    PooledMedian ofMobile = new PooledMedian(mobile);
    int[] all = new int[count];
    Arrays.setAll(all, block -> block);
    double value = ofMobile.of(all) / ofOriginal.of(all);
    if (count < 2) {
      return new Ratio(value, null, null, CONFIDENCE);
    }
    double[] ratios = new double[RESAMPLES];
    for (int resample = 0; resample < RESAMPLES; resample++) {
      if (resample % TOLD == 0) {
        listener.onProgress(Listener.Phase.COMPARING, resample, RESAMPLES);
      }
      if (listener.isCancelled()) {
        throw new CancelledException();
      }
      int[] drawn = draw(resample, count);
      ratios[resample] = ofMobile.of(drawn) / ofOriginal.of(drawn);
    }
    Arrays.sort(ratios);
    double tail = 50 * (1 - CONFIDENCE);
    return new Ratio(value, percentile(ratios, tail), percentile(ratios, 100 - tail), CONFIDENCE);
  }

  /** One set of blocks drawn with replacement; the same in every run and in Python. */
  static int[] draw(int resample, int count) {
    int[] drawn = new int[count];
    Arrays.setAll(drawn, i -> (int) ((random((long) resample * count + i) >>> 32) * count >>> 32));
    return drawn;
  }

  /** Number n, counted from 0, of the generator SplitMix64 (Steele, Lea, Flood 2014) with the seed 0. */
  private static long random(long n) {
    long bits = (n + 1) * 0x9E3779B97F4A7C15L;
    bits = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
    bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
    return bits ^ bits >>> 31;
  }

  /**
   * Cosine similarity of an output of two models, all its numbers on several images as one vector.
   *
   * @param expected rows of the original's outputs, one for each image
   * @param outputs as many of the other model's
   */
  static double cosine(float[][] expected, float[][] outputs, Part part) {
    double product = 0;
    double[] squares = new double[2];
    for (int image = 0; image < expected.length; image++) {
      for (int i = part.start; i < part.end; i++) {
        double theirs = expected[image][i];
        double ours = outputs[image][i];
        product += theirs * ours;
        squares[0] += theirs * theirs;
        squares[1] += ours * ours;
      }
    }
    double lengths = Math.sqrt(squares[0]) * Math.sqrt(squares[1]);
    return lengths > 0 ? product / lengths : squares[0] == squares[1] ? 1 : 0;
  }

  /** Largest difference of two numbers at the same place of an output; NaN if one of them is. */
  static double difference(float[] expected, float[] output, Part part) {
    double largest = 0;
    for (int i = part.start; i < part.end; i++) {
      largest = Math.max(largest, Math.abs((double) expected[i] - output[i]));
    }
    return largest;
  }

  /** Position of the largest value, the first of equal ones. */
  static int argmax(float[] values) {
    int best = 0;
    for (int i = 1; i < values.length; i++) {
      best = values[i] > values[best] ? i : best;
    }
    return best;
  }

  static boolean isFinite(float[] values) {
    for (float value : values) {
      if (Float.isNaN(value) || Float.isInfinite(value)) {
        return false;
      }
    }
    return true;
  }
}
