package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import android.view.View;
import android.widget.ScrollView;
import java.util.List;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;

/**
 * Opens a screen on phones and tablets, upright and on their side: nothing may be cut or hard to read or to touch,
 * and a screen reader must find all content.
 */
public abstract class Looks {
  private static final List<String> SIZES =
      List.of(
          "w360dp-h760dp-port", "w760dp-h360dp-land", "w411dp-h891dp-port", "w891dp-h411dp-land",
          "w600dp-h960dp-port", "w960dp-h600dp-land", "w840dp-h1180dp-port", "w1180dp-h840dp-land");

  private static final List<Look> LOOKS =
      List.of(
          new Look("large", "en-ldltr", "notnight", 2),
          new Look("large_dark_rtl", "ar-ldrtl", "night", 2),
          new Look("light", "en-ldltr", "notnight", 1),
          new Look("dark_rtl", "ar-ldrtl", "night", 1));

  /** Language, colours and size of letters. */
  private static final class Look {
    final String name;
    final String language;
    final String night;
    final float letters;

    Look(String name, String language, String night, float letters) {
      this.name = name;
      this.language = language;
      this.night = night;
      this.letters = letters;
    }
  }

  private final String name;

  /**
   * @param name of the screen, in the file names of its screenshots
   */
  Looks(String name) {
    this.name = name;
  }

  /** Opens the screen with much content. */
  abstract Activity full() throws Exception;

  /** Every size has a look, and every look two sizes; where screenshots are taken, every size has every look. */
  @Test
  public void everywhere() throws Exception {
    for (int i = 0; i < SIZES.size(); i++) {
      for (int j = 0; j < LOOKS.size(); j++) {
        if (i % LOOKS.size() == j || Screenshot.ARE_TAKEN) {
          String[] parts = SIZES.get(i).split("-(?=port|land)");
          Look look = LOOKS.get(j);
          String size = parts[0] + "-" + parts[1];
          RuntimeEnvironment.setQualifiers(look.language + "-" + size + "-" + look.night + "-mdpi");
          RuntimeEnvironment.setFontScale(look.letters);
          fits(full(), look.name + "_" + parts[0]);
        }
      }
    }
  }

  /** Takes screenshots, and checks all that can be checked without eyes. */
  final void fits(Activity activity, String look) throws Exception {
    String where = name + "_" + look;
    Screenshot.takeScreen(activity, where + "_screen");
    assertScrolls(activity, where);
    Screenshot.take(activity, where);
    assertEquals(where, List.of(), Screen.cut(activity));
    assertEquals(where, List.of(), Screen.outside(activity));
    assertEquals(where, List.of(), Screen.small(activity));
    assertEquals(where, List.of(), Screen.unspoken(activity));
    assertEquals(where, List.of(), Contrast.poor(activity));
  }

  /** What scrolls has a third of the screen, and its end can be reached. */
  private static void assertScrolls(Activity activity, String where) {
    ScrollView scroll = Screen.find(activity, ScrollView.class, view -> true);
    int window = activity.getWindow().getDecorView().getHeight();
    assertTrue(where + ": " + scroll.getHeight() + " of " + window, 3 * scroll.getHeight() >= window);
    View content = scroll.getChildAt(0);
    scroll.scrollTo(0, content.getHeight());
    assertTrue(where, content.getHeight() - scroll.getScrollY() <= scroll.getHeight());
    scroll.scrollTo(0, 0);
  }
}
