package org.hsvit.benchmark.app;

import android.content.Context;
import android.content.res.TypedArray;

/** Colours of the theme, which are others in the dark. */
final class Colours {
  private Colours() {}

  /** The colour of an attribute, such as {@code android.R.attr.colorAccent}. */
  static int of(Context context, int attribute) {
    TypedArray array = context.obtainStyledAttributes(new int[] {attribute});
    int colour = array.getColor(0, 0);
    array.recycle(); // closeable only from API 31 on
    return colour;
  }
}
