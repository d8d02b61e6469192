package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Canvas;
import java.util.Arrays;
import java.util.function.DoubleFunction;
import java.util.function.Function;

/** Median latency of both models as curves over threads, or over time; latencies begin at zero. */
final class CurvesView extends ChartView<SavedReport.Compared> {
  private static final float HEIGHT = 6; // in lines
  private static final float TOP = 1.4f; // below the legend

  private final Function<SavedReport.Model, double[][]> points;
  private final DoubleFunction<String> place;

  /**
   * @param points gives the points of a model's curve
   * @param place puts a place on the horizontal axis into words
   */
  CurvesView(
      Context context, Function<SavedReport.Model, double[][]> points, DoubleFunction<String> place) {
    super(context, null);
    this.points = points;
    this.place = place;
  }

  @Override
  float lines() {
    return TOP + HEIGHT + 1; // and the line below the axis
  }

  @Override
  void draw(Canvas canvas, SavedReport.Compared pair) {
    double[][] original = points.apply(pair.original);
    double[][] mobile = points.apply(pair.mobile);
    double[] xs = {least(original, mobile), most(0, original, mobile)};
    double slowest = most(1, original, mobile);
    legend(canvas, 0);
    writeAtEnd(canvas, Words.milliseconds(getResources(), slowest), TOP);
    curve(canvas, false, original, xs, slowest);
    curve(canvas, true, mobile, xs, slowest);
    floor(canvas, floor());
    write(canvas, place.apply(xs[0]), 0, TOP + HEIGHT);
    writeAtEnd(canvas, place.apply(xs[1]), TOP + HEIGHT);
  }

  private float floor() {
    return (TOP + HEIGHT - 0.1f) * line;
  }

  private void curve(Canvas canvas, boolean mobile, double[][] points, double[] ends, double slowest) {
    if (points.length == 0) {
      return;
    }
    float[] xs = new float[points.length];
    float[] ys = new float[points.length];
    float top = (TOP + 1) * line; // below the number
    for (int i = 0; i < points.length; i++) {
      double share = ends[1] > ends[0] ? (points[i][0] - ends[0]) / (ends[1] - ends[0]) : 0;
      xs[i] = (float) (share * getWidth());
      ys[i] = (float) (floor() - points[i][1] / slowest * (floor() - top));
    }
    curve(canvas, mobile, xs, ys);
  }

  private static double least(double[][] one, double[][] other) {
    return Math.min(
        Arrays.stream(one).mapToDouble(point -> point[0]).min().orElse(Double.MAX_VALUE),
        Arrays.stream(other).mapToDouble(point -> point[0]).min().orElse(Double.MAX_VALUE));
  }

  private static double most(int axis, double[][] one, double[][] other) {
    return Math.max(
        Arrays.stream(one).mapToDouble(point -> point[axis]).max().orElse(0),
        Arrays.stream(other).mapToDouble(point -> point[axis]).max().orElse(0));
  }
}
