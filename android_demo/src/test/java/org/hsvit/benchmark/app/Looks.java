package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;

import android.app.Activity;
import java.util.List;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** Opens a screen in several configurations: no text may be cut, a screen reader must find all content. */
public abstract class Looks {
  private final String name;

  /**
   * @param name of the screen, in the file names of its screenshots
   */
  Looks(String name) {
    this.name = name;
  }

  /** Opens the screen with much content. */
  abstract Activity full() throws Exception;

  @Test
  public void light() throws Exception {
    fits("light");
  }

  @Test
  @Config(qualifiers = "+night")
  public void dark() throws Exception {
    fits("dark");
  }

  @Test
  public void largeLetters() throws Exception {
    RuntimeEnvironment.setFontScale(2);
    fits("large");
  }

  @Test
  @Config(qualifiers = "+ar-ldrtl")
  public void rightToLeft() throws Exception {
    fits("rtl");
  }

  @Test
  @Config(qualifiers = "+land")
  public void onItsSide() throws Exception {
    fits("land");
  }

  private void fits(String look) throws Exception {
    fits(full(), look);
  }

  /** Takes a screenshot, and checks that all texts fit. */
  final void fits(Activity activity, String look) throws Exception {
    Screenshot.take(activity, name + "_" + look);
    assertEquals(List.of(), Screen.cut(activity));
    assertEquals(List.of(), Screen.unspoken(activity));
  }
}
