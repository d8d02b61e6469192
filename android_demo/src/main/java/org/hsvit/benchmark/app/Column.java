package org.hsvit.benchmark.app;

import android.content.Context;
import android.util.AttributeSet;
import android.widget.LinearLayout;
import org.hsvit.benchmark.R;

/** A column of views that is no wider than text is read with ease; its parent puts it in the middle. */
public final class Column extends LinearLayout {
  private final int widest;

  public Column(Context context, AttributeSet attributes) {
    super(context, attributes);
    setOrientation(VERTICAL);
    widest = getResources().getDimensionPixelSize(R.dimen.column);
  }

  @Override
  protected void onMeasure(int width, int height) {
    int wanted = Math.min(widest, MeasureSpec.getSize(width));
    super.onMeasure(MeasureSpec.makeMeasureSpec(wanted, MeasureSpec.EXACTLY), height);
  }
}
