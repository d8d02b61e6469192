package org.hsvit.benchmark.app;

import android.content.Context;
import android.view.ViewGroup;
import android.widget.LinearLayout;
import android.widget.TextView;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import org.hsvit.benchmark.R;

/** What was measured of a pair besides, as charts at the end of its card: latency by threads, and over minutes. */
final class MoreCharts {
  private static final double LONG_S = 120; // from here on minutes are told
  private static final double MINUTE_S = 60;

  private final ViewGroup card;
  private final Context context;
  private final SavedReport.Compared pair;

  private MoreCharts(ViewGroup card, SavedReport.Compared pair) {
    this.card = card;
    this.context = card.getContext();
    this.pair = pair;
  }

  /** Adds the charts that the report has numbers for. */
  static void addTo(ViewGroup card, SavedReport.Compared pair) {
    MoreCharts charts = new MoreCharts(card, pair);
    charts.add(R.string.more_threads, model -> model.threads, charts::threads);
    charts.add(R.string.more_sustained, model -> model.sustained, charts::time);
  }

  private void add(int title, Function<SavedReport.Model, double[][]> points, DoubleFunction<String> place) {
    double[][] original = points.apply(pair.original);
    double[][] mobile = points.apply(pair.mobile);
    if (original.length == 0 && mobile.length == 0) {
      return;
    }
    TextView heading = new TextView(context);
    heading.setTextAppearance(R.style.Text_Benchmark_Note);
    heading.setText(title);
    card.addView(heading, below(R.dimen.card_padding));
    CurvesView view = new CurvesView(context, points, place);
    String name = context.getString(R.string.results_original);
    String spoken =
        context.getString(
            R.string.more_spoken,
            context.getString(title),
            ends(name, original, place),
            ends(pair.mobile.title(), mobile, place));
    view.show(pair, spoken);
    card.addView(view, below(R.dimen.gap));
  }

  private LinearLayout.LayoutParams below(int distance) {
    LinearLayout.LayoutParams parameters =
        new LinearLayout.LayoutParams(
            ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT);
    parameters.topMargin = context.getResources().getDimensionPixelSize(distance);
    return parameters;
  }

  /** Where a curve begins and ends, in words. */
  private String ends(String name, double[][] points, DoubleFunction<String> place) {
    if (points.length == 0) {
      return context.getString(R.string.more_unknown, name);
    }
    double[] first = points[0];
    double[] last = points[points.length - 1];
    return context.getString(
        R.string.more_ends,
        name,
        Words.milliseconds(context.getResources(), first[1]),
        place.apply(first[0]),
        Words.milliseconds(context.getResources(), last[1]),
        place.apply(last[0]));
  }

  private String threads(double count) {
    return Words.quantity(context.getResources(), R.plurals.results_threads, (int) count);
  }

  private String time(double seconds) {
    return seconds < LONG_S
        ? context.getString(R.string.more_seconds, Words.number(context.getResources(), seconds))
        : context.getString(R.string.more_minutes, Words.number(context.getResources(), seconds / MINUTE_S));
  }
}
