package org.hsvit.benchmark.app;

import android.app.Activity;
import android.text.Layout;
import android.text.TextUtils;
import android.view.View;
import android.view.ViewGroup;
import android.widget.EditText;
import android.widget.ImageView;
import android.widget.Spinner;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.hsvit.benchmark.R;

/** Reads what an activity shows. */
final class Screen {
  private Screen() {}

  /** All visible views, in the order of drawing. */
  static List<View> views(Activity activity) {
    List<View> views = new ArrayList<>();
    collect(activity.getWindow().getDecorView(), views);
    return views;
  }

  private static void collect(View view, List<View> views) {
    if (view.getVisibility() != View.VISIBLE) {
      return;
    }
    views.add(view);
    if (view instanceof ViewGroup) {
      for (int i = 0; i < ((ViewGroup) view).getChildCount(); i++) {
        collect(((ViewGroup) view).getChildAt(i), views);
      }
    }
  }

  /** The first visible view of a type that meets a condition. */
  static <T extends View> T find(Activity activity, Class<T> type, Predicate<T> condition) {
    for (View view : views(activity)) {
      if (type.isInstance(view) && condition.test(type.cast(view))) {
        return type.cast(view);
      }
    }
    throw new AssertionError("no such " + type.getSimpleName() + " in: " + text(activity));
  }

  /** The visible text, one view on each line, without what {@link Words#wrapped} puts in. */
  static String text(Activity activity) {
    StringBuilder text = new StringBuilder();
    for (View view : views(activity)) {
      if (view instanceof TextView) {
        text.append(text((TextView) view)).append('\n');
      }
    }
    return text.toString();
  }

  /** The text of a view, without that. */
  static String text(TextView view) {
    return view.getText().toString().replace("\u200B", "").replace('\u00A0', ' ');
  }

  /** Texts that do not fit into their view, or their view into its parent, and those with a broken word. */
  static List<String> cut(Activity activity) {
    List<String> cut = new ArrayList<>();
    for (View view : views(activity)) {
      if (view instanceof TextView && ((TextView) view).getLayout() != null) {
        TextView text = (TextView) view;
        if (!fits(text) || reachesOut(text) || breaksWords(text.getLayout())) {
          cut.add(text.getText().toString());
        }
      }
    }
    return cut;
  }

  private static boolean fits(TextView view) {
    Layout text = view.getLayout();
    int room = view.getHeight() - view.getCompoundPaddingTop() - view.getCompoundPaddingBottom();
    boolean shortened = text.getLineCount() > 0 && text.getEllipsisCount(text.getLineCount() - 1) > 0;
    return text.getHeight() <= room && !shortened;
  }

  /** A part outside of the parents is not drawn. */
  private static boolean reachesOut(View view) {
    View inner = view;
    while (inner.getParent() instanceof View) {
      View holder = (View) inner.getParent();
      if (inner.getTop() < 0 || inner.getBottom() > holder.getHeight()) {
        return true;
      }
      inner = holder;
    }
    return false;
  }

  /** Views that reach out of the screen at its sides. */
  static List<View> outside(Activity activity) {
    List<View> outside = new ArrayList<>();
    int width = activity.getWindow().getDecorView().getWidth();
    for (View view : views(activity)) {
      int[] place = new int[2];
      view.getLocationInWindow(place);
      if (place[0] < 0 || place[0] + view.getWidth() > width) {
        outside.add(view);
      }
    }
    return outside;
  }

  /** Things to touch that are smaller than a finger: 48 dp. */
  static List<View> small(Activity activity) {
    List<View> small = new ArrayList<>();
    int least = activity.getResources().getDimensionPixelSize(R.dimen.touch);
    for (View view : views(activity)) {
      boolean isTouched = view.hasOnClickListeners() || view instanceof EditText || view instanceof Spinner;
      if (isTouched && (view.getWidth() < least || view.getHeight() < least)) {
        small.add(view);
      }
    }
    return small;
  }

  /** Buttons, pictures and charts without a text for screen readers. */
  static List<View> unspoken(Activity activity) {
    List<View> unspoken = new ArrayList<>();
    for (View view : views(activity)) {
      boolean shows = view.isClickable() || view instanceof ImageView || view instanceof ChartView;
      boolean isSpoken =
          !TextUtils.isEmpty(view.getContentDescription())
              || (view instanceof TextView && !TextUtils.isEmpty(((TextView) view).getText()));
      if (shows && !isSpoken && view.isImportantForAccessibility()) {
        unspoken.add(view);
      }
    }
    return unspoken;
  }

  private static boolean breaksWords(Layout layout) {
    CharSequence text = layout.getText();
    for (int line = 1; line < layout.getLineCount(); line++) {
      int start = layout.getLineStart(line);
      char before = text.charAt(start - 1);
      if (Character.isLetterOrDigit(before) && Character.isLetterOrDigit(text.charAt(start))) {
        return true;
      }
    }
    return false;
  }
}
