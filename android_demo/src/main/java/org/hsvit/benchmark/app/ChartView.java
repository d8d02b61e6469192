package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Canvas;
import android.graphics.Paint;
import android.graphics.Path;
import android.text.TextPaint;
import android.text.TextUtils;
import android.util.AttributeSet;
import android.util.TypedValue;
import android.view.View;
import org.hsvit.benchmark.R;

/**
 * A chart, as high as its lines of text need.
 *
 * <p>What is compared is hollow and what it is about is filled, so that colours are not needed. Charts are
 * mirrored where people read from right to left.
 *
 * @param <T> what is shown
 */
abstract class ChartView<T> extends View {
  private static final float TEXT_SP = 13;
  private static final float STROKE_DP = 1.5f;

  /** Height of a line of text, pixels. */
  final float line;

  final TextPaint text = new TextPaint(Paint.ANTI_ALIAS_FLAG);
  final Paint hollow = new Paint(Paint.ANTI_ALIAS_FLAG);
  final Paint filled = new Paint(Paint.ANTI_ALIAS_FLAG);
  private T content;

  ChartView(Context context, AttributeSet attributes) {
    super(context, attributes);
    text.setTextSize(pixels(TypedValue.COMPLEX_UNIT_SP, TEXT_SP));
    text.setColor(context.getColor(R.color.text));
    line = 1.2f * text.getFontSpacing();
    hollow.setStyle(Paint.Style.STROKE);
    hollow.setStrokeWidth(pixels(TypedValue.COMPLEX_UNIT_DIP, STROKE_DP));
    hollow.setColor(context.getColor(R.color.original));
    filled.setColor(context.getColor(R.color.mobile));
  }

  final float pixels(int unit, float value) {
    return TypedValue.applyDimension(unit, value, getResources().getDisplayMetrics());
  }

  /**
   * Shows something.
   *
   * @param description the chart in words, for screen readers
   */
  final void show(T content, String description) {
    this.content = content;
    setContentDescription(description);
    requestLayout();
    invalidate();
  }

  /** Height of its content, in lines of text. */
  abstract float lines();

  abstract void draw(Canvas canvas, T content);

  @Override
  protected final void onMeasure(int width, int height) {
    int wanted = (int) Math.ceil(lines() * line);
    setMeasuredDimension(getDefaultSize(0, width), resolveSize(wanted, height));
  }

  @Override
  protected final void onDraw(Canvas canvas) {
    if (content != null) {
      draw(canvas, content);
    }
  }

  /** Draws a bar; from and to are distances from the start of the line. */
  final void bar(Canvas canvas, boolean mobile, float from, float top, float to, float bottom) {
    float left = Math.min(mirrored(from), mirrored(to));
    float right = Math.max(mirrored(from), mirrored(to));
    float half = mobile ? 0 : hollow.getStrokeWidth() / 2; // half of a stroke lies outside of the outline
    canvas.drawRect(left + half, top + half, right - half, bottom - half, mobile ? filled : hollow);
  }

  /** Draws the line that bars stand on. */
  final void floor(Canvas canvas, float y) {
    canvas.drawLine(0, y, getWidth(), y, hollow);
  }

  /** Draws a curve, thin for the original and thick for the mobile model; xs are distances from the start. */
  final void curve(Canvas canvas, boolean mobile, float[] xs, float[] ys) {
    Paint paint = new Paint(mobile ? filled : hollow);
    paint.setStyle(Paint.Style.STROKE);
    paint.setStrokeJoin(Paint.Join.ROUND);
    paint.setStrokeWidth((mobile ? 2 : 1) * hollow.getStrokeWidth());
    Path path = new Path();
    path.moveTo(mirrored(xs[0]), ys[0]);
    for (int i = 1; i < xs.length; i++) {
      path.lineTo(mirrored(xs[i]), ys[i]);
    }
    canvas.drawPath(path, paint);
  }

  /** Draws a line that names both kinds of bars. */
  final void legend(Canvas canvas, float line) {
    entry(canvas, false, name(false), 0, line);
    entry(canvas, true, name(true), getWidth() / 2f, line);
  }

  /** What an original and a mobile model are called; their file names would not fit. */
  final String name(boolean mobile) {
    return getResources().getString(mobile ? R.string.results_mobile : R.string.results_original);
  }

  private void entry(Canvas canvas, boolean mobile, String name, float from, float number) {
    float top = (number + 0.25f) * line;
    bar(canvas, mobile, from, top, from + line / 2, top + line / 2);
    write(canvas, name, from + 0.8f * line, number);
  }

  /** Writes text on a line, at a distance from its start. */
  final void write(Canvas canvas, String words, float from, float line) {
    draw(canvas, words, from, line, isRtl() ? Paint.Align.RIGHT : Paint.Align.LEFT);
  }

  /** Writes text at the end of a line. */
  final void writeAtEnd(Canvas canvas, String words, float line) {
    draw(canvas, words, getWidth(), line, isRtl() ? Paint.Align.LEFT : Paint.Align.RIGHT);
  }

  private void draw(Canvas canvas, String words, float from, float number, Paint.Align align) {
    text.setTextAlign(align);
    float baseline = number * line + (line - text.descent() - text.ascent()) / 2;
    float room = from < getWidth() ? getWidth() - from : from;
    String fitting = TextUtils.ellipsize(words, text, room, TextUtils.TruncateAt.END).toString();
    canvas.drawText(fitting, mirrored(from), baseline, text);
  }

  final float widthOf(String words) {
    return text.measureText(words);
  }

  /** Where a distance from the start of the line is on the canvas. */
  final float mirrored(float fromStart) {
    return isRtl() ? getWidth() - fromStart : fromStart;
  }

  private boolean isRtl() {
    return getLayoutDirection() == LAYOUT_DIRECTION_RTL;
  }
}
