package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Canvas;
import android.util.AttributeSet;
import org.hsvit.benchmark.R;

/** Bars of p50, p90 and p99 of both models, each with its number. */
public final class BarsView extends ChartView<SavedReport.Compared> {
  private static final float GAP = 0.4f; // between groups, in lines
  private static final float GROUP = 3 + GAP; // a title and two bars
  private static final float INSET = 0.12f; // margin of a bar in its line

  public BarsView(Context context, AttributeSet attributes) {
    super(context, attributes);
  }

  @Override
  float lines() {
    return 1 + 3 * GROUP; // the legend and the groups
  }

  @Override
  void draw(Canvas canvas, SavedReport.Compared pair) {
    String[] names = getResources().getStringArray(R.array.results_percentiles);
    SavedReport.Model original = pair.original;
    SavedReport.Model mobile = pair.mobile;
    double[][] times = {
      {original.p50, mobile.p50}, {original.p90, mobile.p90}, {original.p99, mobile.p99}
    };
    double longest = Math.max(original.p99, mobile.p99);
    legend(canvas, 0);
    for (int i = 0; i < times.length; i++) {
      float row = 1 + GAP + i * GROUP;
      write(canvas, names[i], 0, row);
      bar(canvas, false, times[i][0], longest, row + 1);
      bar(canvas, true, times[i][1], longest, row + 2);
    }
  }

  private void bar(Canvas canvas, boolean mobile, double time, double longest, float row) {
    String number = Words.milliseconds(getResources(), time);
    String widest = Words.milliseconds(getResources(), 8888);
    float room = getWidth() - Math.max(widthOf(number), widthOf(widest)) - line / 2;
    float length = (float) (room * time / longest);
    bar(canvas, mobile, 0, (row + INSET) * line, length, (row + 1 - INSET) * line);
    write(canvas, number, length + line / 4, row);
  }
}
