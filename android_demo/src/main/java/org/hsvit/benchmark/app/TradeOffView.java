package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Canvas;
import android.graphics.Paint;
import android.graphics.Path;
import android.graphics.RectF;
import android.util.AttributeSet;
import android.util.TypedValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.hsvit.benchmark.R;

/**
 * The task's metric against the latency: a point for each model of an {@link Overview}, with its number.
 *
 * <p>The best are filled, and a line of steps separates what they reach from what no model reaches.
 */
public final class TradeOffView extends ChartView<Overview> {
  private static final float HEIGHT = 9; // of the plot, in lines
  private static final float RADIUS = 0.32f; // of a point, in lines
  private static final int TICKS = 5;
  private static final double MARGIN = 0.15; // of the values' range

  private final Paint grid = new Paint();
  private final Paint ground = new Paint(Paint.ANTI_ALIAS_FLAG);
  private final Paint steps = new Paint(Paint.ANTI_ALIAS_FLAG);

  /** Where points and numbers are: the next number avoids them. */
  private final List<RectF> taken = new ArrayList<>();

  private RectF plot = new RectF();
  private double[] times;
  private double[] values;

  public TradeOffView(Context context, AttributeSet attributes) {
    super(context, attributes);
    grid.setColor(context.getColor(R.color.outline));
    grid.setStrokeWidth(pixels(TypedValue.COMPLEX_UNIT_DIP, 1));
    ground.setColor(context.getColor(R.color.surface));
    steps.setStyle(Paint.Style.STROKE);
    steps.setStrokeWidth(hollow.getStrokeWidth());
    steps.setColor(filled.getColor());
  }

  @Override
  float lines() {
    return HEIGHT + 3.2f; // the metric's name, then ticks and the name of the time
  }

  @Override
  void draw(Canvas canvas, Overview overview) {
    List<Overview.Entry> entries = overview.placed();
    values = range(entries, overview.metric.isShare);
    times = new double[] {0, entries.get(entries.size() - 1).p50 * (1 + MARGIN / 2)};
    write(canvas, overview.metric.title, 0, 0);
    axes(canvas, overview.metric.isShare);
    writeAtEnd(canvas, getResources().getString(R.string.overview_time), HEIGHT + 2.2f);
    frontier(canvas, entries);
    taken.clear();
    entries.forEach(entry -> taken.add(place(entry)));
    // The best last, on top of what is nearly the same; their numbers first, beside them.
    List<Overview.Entry> ordered = new ArrayList<>(entries);
    ordered.sort(Comparator.comparing(Overview.Entry::isBest));
    ordered.forEach(entry -> point(canvas, entry));
    Collections.reverse(ordered);
    ordered.forEach(entry -> number(canvas, entry, overview.number(entry)));
  }

  /** The metric's range with a margin, within which a share is a share. */
  private static double[] range(List<Overview.Entry> entries, boolean isShare) {
    double low = entries.stream().mapToDouble(entry -> entry.metric).min().orElse(0);
    double high = entries.stream().mapToDouble(entry -> entry.metric).max().orElse(1);
    double least = isShare ? 0.05 : Math.max(0.05 * Math.abs(high), 1e-6); // where all are equal
    double margin = Math.max(MARGIN * (high - low), least);
    return new double[] {isShare ? Math.max(0, low - margin) : low - margin, high + margin};
  }

  private void axes(Canvas canvas, boolean isShare) {
    List<Double> marks = Ticks.between(values[0], isShare ? Math.min(1, values[1]) : values[1], TICKS);
    float gutter = 0;
    for (double mark : marks) {
      gutter = Math.max(gutter, widthOf(value(mark, isShare)));
    }
    float radius = RADIUS * line;
    plot = new RectF(gutter + radius + line / 4, 1.2f * line, getWidth() - 2 * radius, (1.2f + HEIGHT) * line);
    for (double mark : marks) {
      float y = y(mark);
      canvas.drawLine(mirrored(plot.left), y, mirrored(getWidth()), y, grid);
      write(canvas, value(mark, isShare), 0, y / line - 0.5f);
    }
    floor(canvas, plot.bottom);
    for (double mark : Ticks.between(times[0], times[1], TICKS)) {
      float x = x(mark);
      canvas.drawLine(mirrored(x), plot.bottom, mirrored(x), plot.bottom + line / 4, hollow);
      String number = Words.tick(getResources(), mark);
      float half = widthOf(number) / 2;
      write(canvas, number, Math.min(x, getWidth() - half) - half, HEIGHT + 1.4f);
    }
  }

  private String value(double mark, boolean isShare) {
    return isShare ? Words.percent(getResources(), mark) : Words.tick(getResources(), mark);
  }

  /** The distance of a time from the start of the line. */
  float x(double time) {
    return plot.left + (float) (plot.width() * (time - times[0]) / (times[1] - times[0]));
  }

  float y(double metric) {
    return plot.bottom - (float) (plot.height() * (metric - values[0]) / (values[1] - values[0]));
  }

  private void frontier(Canvas canvas, List<Overview.Entry> entries) {
    Path path = new Path();
    Overview.Entry last = null;
    for (Overview.Entry entry : entries) {
      if (entry.isBest() && last == null) {
        path.moveTo(mirrored(x(entry.p50)), y(entry.metric));
      } else if (entry.isBest()) {
        path.lineTo(mirrored(x(entry.p50)), y(last.metric));
        path.lineTo(mirrored(x(entry.p50)), y(entry.metric));
      }
      last = entry.isBest() ? entry : last;
    }
    canvas.drawPath(path, steps);
  }

  /** Where a point is, measured from the start of the line. */
  private RectF place(Overview.Entry entry) {
    float x = x(entry.p50);
    float y = y(entry.metric);
    float radius = RADIUS * line;
    return new RectF(x - radius, y - radius, x + radius, y + radius);
  }

  private void point(Canvas canvas, Overview.Entry entry) {
    float x = mirrored(x(entry.p50));
    float y = y(entry.metric);
    float radius = RADIUS * line;
    canvas.drawCircle(x, y, radius, entry.isBest() ? filled : ground);
    if (!entry.isBest()) {
      canvas.drawCircle(x, y, radius - hollow.getStrokeWidth() / 2, hollow);
    }
  }

  /** Writes a number beside its point where it is free, beginning above it. */
  private void number(Canvas canvas, Overview.Entry entry, int number) {
    String words = Words.count(getResources(), number);
    float wide = widthOf(words) + 2;
    float x = x(entry.p50);
    float y = y(entry.metric);
    float[][] places = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}, {0.9f, -0.9f}, {0.9f, 0.9f}, {-0.9f, 0.9f}, {-0.9f, -0.9f}};
    RectF found = null;
    for (int ring = 1; ring <= 3 && found == null; ring++) {
      for (int i = 0; i < places.length && found == null; i++) {
        float centre = x + ring * places[i][0] * (RADIUS * line + wide / 2);
        float middle = y + ring * places[i][1] * (RADIUS + 0.42f) * line;
        RectF place =
            new RectF(centre - wide / 2, middle - 0.4f * line, centre + wide / 2, middle + 0.4f * line);
        found = isFree(place) ? place : null;
      }
    }
    if (found != null) {
      pointer(canvas, x, y, found);
      write(canvas, words, found.left + 1, found.centerY() / line - 0.5f);
      taken.add(found);
    }
  }

  /** Draws a line from a point to its number, if that is not beside it. */
  private void pointer(Canvas canvas, float x, float y, RectF number) {
    float apart = Math.max(Math.abs(number.centerX() - x), Math.abs(number.centerY() - y));
    if (apart > 1.1f * line) {
      float half = 0.4f * line * Math.signum(number.centerY() - y);
      canvas.drawLine(mirrored(x), y, mirrored(number.centerX()), number.centerY() - half, hollow);
    }
    canvas.drawRect(
        Math.min(mirrored(number.left), mirrored(number.right)),
        number.top,
        Math.max(mirrored(number.left), mirrored(number.right)),
        number.bottom,
        ground);
  }

  private boolean isFree(RectF place) {
    boolean inside = place.left >= plot.left && place.right <= getWidth() && place.bottom <= plot.bottom;
    return inside && taken.stream().noneMatch(each -> RectF.intersects(each, place));
  }
}
