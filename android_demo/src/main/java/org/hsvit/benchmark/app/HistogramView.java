package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Canvas;
import android.util.AttributeSet;
import java.util.Arrays;
import org.hsvit.benchmark.R;

/** Histograms of the latencies of both models, one below the other, with the same time axis. */
public final class HistogramView extends ChartView<SavedReport.Compared> {
  private static final int BINS = 40;
  private static final float HEIGHT = 3; // of the highest bar, in lines
  private static final float LANE = 1.3f + HEIGHT; // a title and the bars

  public HistogramView(Context context, AttributeSet attributes) {
    super(context, attributes);
  }

  @Override
  float lines() {
    return 2 * LANE + 1;
  }

  @Override
  void draw(Canvas canvas, SavedReport.Compared pair) {
    double least = Math.min(least(pair.original.samples), least(pair.mobile.samples));
    double most = Math.max(pair.original.p99, pair.mobile.p99);
    lane(canvas, false, pair.original, least, most);
    lane(canvas, true, pair.mobile, least, most);
    write(canvas, Words.milliseconds(getResources(), least), 0, 2 * LANE);
    String last = Words.milliseconds(getResources(), most);
    writeAtEnd(canvas, getResources().getString(R.string.results_or_longer, last), 2 * LANE);
  }

  private static double least(double[] samples) {
    return Arrays.stream(samples).min().orElse(0);
  }

  private void lane(Canvas canvas, boolean mobile, SavedReport.Model model, double least, double most) {
    float top = mobile ? LANE : 0;
    write(canvas, name(mobile), 0, top);
    int[] counts = counts(model.samples, least, most, BINS);
    int highest = Math.max(1, Arrays.stream(counts).max().orElse(1));
    float width = (float) getWidth() / BINS;
    float floor = (top + LANE - 0.2f) * line;
    for (int i = 0; i < BINS; i++) {
      if (counts[i] > 0) {
        float height = HEIGHT * line * counts[i] / highest;
        bar(canvas, mobile, i * width, floor - height, (i + 1) * width, floor);
      }
    }
    floor(canvas, floor);
  }

  /** Samples in each of equal bins. The last one also has all slower samples, so that bins stay narrow. */
  static int[] counts(double[] samples, double least, double most, int bins) {
    int[] counts = new int[bins];
    double width = most > least ? (most - least) / bins : 1;
    for (double sample : samples) {
      counts[Math.min(bins - 1, (int) ((sample - least) / width))]++;
    }
    return counts;
  }
}
