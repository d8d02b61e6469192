package org.hsvit.benchmark.app;

import android.content.Context;
import android.view.ViewGroup;
import android.widget.LinearLayout;
import android.widget.TextView;
import java.util.Comparator;
import java.util.StringJoiner;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import org.hsvit.benchmark.R;

/** What was measured of a pair besides, at the end of its card: memory, operations, charts over threads and minutes. */
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

  /** Adds what the report has numbers for. */
  static void addTo(ViewGroup card, SavedReport.Compared pair) {
    MoreCharts charts = new MoreCharts(card, pair);
    charts.addMemory();
    charts.addKinds(charts.context.getString(R.string.results_original), pair.original);
    charts.addKinds(pair.mobile.title(), pair.mobile);
    charts.add(R.string.more_threads, model -> model.threads, charts::threads);
    charts.add(R.string.more_sustained, model -> model.sustained, charts::time);
  }

  private void addMemory() {
    if (pair.original.peakBytes == null || pair.mobile.peakBytes == null) {
      return;
    }
    String original = Words.size(context.getResources(), pair.original.peakBytes);
    String mobile = Words.size(context.getResources(), pair.mobile.peakBytes);
    note(context.getString(R.string.more_memory, original, pair.mobile.title(), mobile));
  }

  /** A line for each kind of operation, the longest first. */
  private void addKinds(String name, SavedReport.Model model) {
    if (model.kinds.isEmpty()) {
      return;
    }
    StringJoiner lines = new StringJoiner("\n");
    lines.add(context.getString(R.string.more_kinds, name));
    model.kinds.entrySet().stream()
        .sorted(Comparator.comparing(kind -> kind.getValue() == null ? 0 : -kind.getValue()))
        .forEach(kind -> lines.add(context.getString(R.string.more_kind, kind.getKey(), time(kind.getValue()))));
    note(lines.toString());
  }

  private String time(Double milliseconds) {
    return milliseconds == null
        ? context.getString(R.string.results_unknown)
        : Words.milliseconds(context.getResources(), milliseconds);
  }

  private void note(String text) {
    TextView view = new TextView(context);
    view.setTextAppearance(R.style.Text_Benchmark_Note);
    view.setText(Words.wrapped(text));
    card.addView(view, below(R.dimen.card_padding));
  }

  private void add(int title, Function<SavedReport.Model, double[][]> points, DoubleFunction<String> place) {
    double[][] original = points.apply(pair.original);
    double[][] mobile = points.apply(pair.mobile);
    if (original.length == 0 && mobile.length == 0) {
      return;
    }
    note(context.getString(title));
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
