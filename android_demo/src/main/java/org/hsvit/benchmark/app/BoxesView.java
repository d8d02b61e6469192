package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Canvas;
import android.graphics.Color;
import android.graphics.Paint;
import android.graphics.RectF;
import android.graphics.drawable.BitmapDrawable;
import android.util.AttributeSet;
import android.util.TypedValue;
import android.view.View;
import java.util.List;
import java.util.StringJoiner;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.measure.Prediction;

/** A picture as wide as the screen allows, with boxes and the classes and scores of them. */
public final class BoxesView extends View {
  private static final float TEXT_SP = 13;
  private static final float STROKE_DP = 2;

  /** One after the other for the classes; black letters are read on all of them. */
  private static final int[] COLOURS = {
    0xFF4F9FD8, 0xFFFF7F0E, 0xFF4FB84F, 0xFFF0716F, 0xFFB08BD6, 0xFFB98A7C, 0xFFE377C2, 0xFFA0A0A0, 0xFFBCBD22,
    0xFF17BECF
  };

  private final Paint outline = new Paint(Paint.ANTI_ALIAS_FLAG);
  private final Paint ground = new Paint(Paint.ANTI_ALIAS_FLAG);
  private final Paint text = new Paint(Paint.ANTI_ALIAS_FLAG);
  private BitmapDrawable picture;
  private List<Prediction> boxes = List.of();

  public BoxesView(Context context, AttributeSet attributes) {
    super(context, attributes);
    outline.setStyle(Paint.Style.STROKE);
    outline.setStrokeWidth(pixels(TypedValue.COMPLEX_UNIT_DIP, STROKE_DP));
    text.setTextSize(pixels(TypedValue.COMPLEX_UNIT_SP, TEXT_SP));
    text.setColor(Color.BLACK);
  }

  private float pixels(int unit, float value) {
    return TypedValue.applyDimension(unit, value, getResources().getDisplayMetrics());
  }

  /** Shows a picture; screen readers are told its boxes. */
  void show(BitmapDrawable picture, List<Prediction> boxes) {
    this.picture = picture;
    this.boxes = boxes;
    StringJoiner told = new StringJoiner(", ");
    boxes.forEach(box -> told.add(named(box)));
    setContentDescription(
        boxes.isEmpty()
            ? getContext().getString(R.string.detect_picture)
            : Words.quantity(getResources(), R.plurals.detect_boxes, boxes.size(), told.toString()));
    requestLayout();
    invalidate();
  }

  private String named(Prediction box) {
    return box.label + " " + Words.percent(getResources(), box.probability);
  }

  @Override
  protected void onMeasure(int width, int height) {
    int wide = getDefaultSize(0, width);
    int high = picture == null ? 0 : wide * picture.getBitmap().getHeight() / picture.getBitmap().getWidth();
    setMeasuredDimension(wide, resolveSize(high, height));
  }

  @Override
  protected void onDraw(Canvas canvas) {
    if (picture == null) {
      return;
    }
    picture.setBounds(0, 0, getWidth(), getHeight());
    picture.draw(canvas);
    for (int i = boxes.size() - 1; i >= 0; i--) {
      draw(canvas, boxes.get(i)); // the best last, on top
    }
  }

  private void draw(Canvas canvas, Prediction box) {
    int colour = COLOURS[Math.floorMod(box.index, COLOURS.length)];
    outline.setColor(colour);
    ground.setColor(colour);
    RectF place =
        new RectF(
            box.box[0] * getWidth(),
            box.box[1] * getHeight(),
            box.box[2] * getWidth(),
            box.box[3] * getHeight());
    canvas.drawRect(place, outline);
    // The name stands above the box, within the picture.
    String name = named(box);
    float room = text.measureText(name) + 2 * outline.getStrokeWidth();
    float line = text.getFontSpacing();
    float left = Math.max(0, Math.min(place.left, getWidth() - room));
    float top = Math.max(0, Math.min(place.top - line, getHeight() - line));
    canvas.drawRect(left, top, left + room, top + line, ground);
    canvas.drawText(name, left + outline.getStrokeWidth(), top - text.ascent(), text);
  }
}
