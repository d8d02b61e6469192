package org.hsvit.benchmark.app;

import android.app.Activity;
import android.content.res.ColorStateList;
import android.graphics.Color;
import android.graphics.drawable.ColorDrawable;
import android.graphics.drawable.Drawable;
import android.graphics.drawable.GradientDrawable;
import android.graphics.drawable.LayerDrawable;
import android.text.Spanned;
import android.text.style.ForegroundColorSpan;
import android.view.View;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;

/** Contrast of texts with what is behind them, as WCAG 2.2 defines it: 4.5 at least for text (1.4.3). */
final class Contrast {
  private static final double LEAST = 4.5;

  private Contrast() {}

  /** Texts with too little; what is disabled may have less. */
  static List<String> poor(Activity activity) {
    List<String> poor = new ArrayList<>();
    for (View view : Screen.views(activity)) {
      if (view instanceof TextView && view.isEnabled() && ((TextView) view).length() > 0) {
        TextView text = (TextView) view;
        int ground = ground(text);
        for (int colour : colours(text)) {
          double contrast = of(blended(colour, ground, alpha(view)), ground);
          if (contrast < LEAST) {
            poor.add(String.format("%s: %.2f", text.getText(), contrast));
          }
        }
      }
    }
    return poor;
  }

  private static List<Integer> colours(TextView view) {
    List<Integer> colours = new ArrayList<>(List.of(view.getCurrentTextColor()));
    if (view.getText() instanceof Spanned) {
      Spanned text = (Spanned) view.getText();
      for (ForegroundColorSpan span : text.getSpans(0, text.length(), ForegroundColorSpan.class)) {
        colours.add(span.getForegroundColor());
      }
    }
    return colours;
  }

  private static float alpha(View view) {
    float alpha = 1;
    for (Object each = view; each instanceof View; each = ((View) each).getParent()) {
      alpha *= ((View) each).getAlpha();
    }
    return alpha;
  }

  /** The colour behind a view: that of the nearest view with an opaque one. */
  private static int ground(View view) {
    for (Object each = view; each instanceof View; each = ((View) each).getParent()) {
      Integer colour = colour(((View) each).getBackground(), ((View) each).getDrawableState());
      if (colour != null && Color.alpha(colour) == 255) {
        return colour;
      }
    }
    throw new AssertionError("nothing is behind " + view);
  }

  private static Integer colour(Drawable drawable, int[] state) {
    if (drawable instanceof ColorDrawable) {
      return ((ColorDrawable) drawable).getColor();
    }
    if (drawable instanceof GradientDrawable) {
      ColorStateList colours = ((GradientDrawable) drawable).getColor();
      return colours == null ? null : colours.getColorForState(state, colours.getDefaultColor());
    }
    if (drawable instanceof LayerDrawable) { // such as a ripple, whose mask is not drawn
      LayerDrawable layers = (LayerDrawable) drawable;
      for (int i = layers.getNumberOfLayers() - 1; i >= 0; i--) {
        boolean drawn = layers.getId(i) != android.R.id.mask;
        Integer colour = drawn ? colour(layers.getDrawable(i), state) : null;
        if (colour != null) {
          return colour;
        }
      }
    }
    return null;
  }

  private static int blended(int colour, int ground, float alpha) {
    float share = alpha * Color.alpha(colour) / 255;
    return Color.rgb(
        Math.round(share * Color.red(colour) + (1 - share) * Color.red(ground)),
        Math.round(share * Color.green(colour) + (1 - share) * Color.green(ground)),
        Math.round(share * Color.blue(colour) + (1 - share) * Color.blue(ground)));
  }

  static double of(int first, int second) {
    double a = luminance(first) + 0.05;
    double b = luminance(second) + 0.05;
    return Math.max(a, b) / Math.min(a, b);
  }

  private static double luminance(int colour) {
    return 0.2126 * linear(Color.red(colour))
        + 0.7152 * linear(Color.green(colour))
        + 0.0722 * linear(Color.blue(colour));
  }

  private static double linear(int channel) {
    double share = channel / 255.0;
    return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
  }
}
