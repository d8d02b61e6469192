package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.os.Looper;
import android.view.View;
import android.widget.ScrollView;
import android.widget.TextView;
import java.io.File;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.report.WholeFile;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** What the first screen looks like, and that nothing of it is cut. */
@RunWith(RobolectricTestRunner.class)
@Config(qualifiers = "w411dp-h891dp-xhdpi")
public class MainScreenTest {
  private static final Map<String, String> TITLES =
      Map.of(
          FakePhone.ORIGINAL, "float32 original",
          FakePhone.INT8, "int8 weights and activations",
          FakePhone.DYNAMIC, "int8 weights");

  private final AppFixture fixture = new AppFixture();

  /** A bundle with the sizes of a real one, a damaged one, and two reports. */
  @Before
  public void fill() throws Exception {
    for (int i = 0; i < 3; i++) {
      JSONObject model = fixture.phone.described.getJSONArray("models").getJSONObject(i);
      String file = model.getString("file");
      byte[] content = new byte[file.equals(FakePhone.ORIGINAL) ? 4_123_456 : 1_234_567];
      fixture.phone.files.put(file, content);
      model.put("title", TITLES.get(file)).put("bytes", content.length);
      model.put("sha256", Contents.sha256(content));
    }
    fixture.phone.described.put("name", "hsvit_tiny on digits");
    fixture.push();
    for (String id : List.of("20260102-030405", "20260203-101112")) {
      File report = new File(Folders.reports(fixture.app), id + ".json");
      WholeFile.write(report, "{}");
      report.setLastModified(1_770_000_000_000L);
    }
  }

  private MainActivity open() throws Exception {
    MainActivity activity = Robolectric.buildActivity(MainActivity.class).setup().get();
    fixture.await(() -> Screen.text(activity).contains("hsvit_tiny"));
    return activity;
  }

  /** Takes the top and the bottom of the screen. */
  private static void take(MainActivity activity, String name) throws Exception {
    Screenshot.take(activity, name);
    assertEquals(List.of(), Screen.cut(activity));
    ((ScrollView) activity.findViewById(R.id.scroll)).fullScroll(View.FOCUS_DOWN);
    shadowOf(Looper.getMainLooper()).idle();
    Screenshot.take(activity, name + "_bottom");
    assertRoomForTheList(activity);
  }

  /** The foot leaves at least a third of the screen to what is above it. */
  private static void assertRoomForTheList(MainActivity activity) {
    int window = activity.getWindow().getDecorView().getHeight();
    assertTrue(3 * activity.findViewById(R.id.scroll).getHeight() > window);
  }

  @Test
  public void light() throws Exception {
    fixture.write("broken/bundle.json", "{\"bundle_version\": 2}".getBytes());
    take(open(), "main_light");
  }

  @Test
  @Config(qualifiers = "+night")
  public void dark() throws Exception {
    MainActivity activity = open();
    fixture.hold(FakePhone.DYNAMIC);
    activity.findViewById(R.id.run).performClick();
    fixture.await(() -> Screen.text(activity).contains("Measuring dynamic"));
    take(activity, "main_running_dark");
    activity.findViewById(R.id.run).performClick();
    fixture.letGo();
    fixture.awaitEnding();
    take(activity, "main_ended_dark");
  }

  @Test
  public void largeFont() throws Exception {
    RuntimeEnvironment.setFontScale(2);
    MainActivity activity = open();
    fixture.hold(FakePhone.DYNAMIC);
    activity.findViewById(R.id.run).performClick();
    fixture.await(() -> Screen.text(activity).contains("Measuring dynamic"));
    take(activity, "main_running_large");
    fixture.letGo();
    fixture.awaitEnding();
  }

  @Test
  @Config(qualifiers = "+ar-ldrtl")
  public void rightToLeft() throws Exception {
    MainActivity activity = open();
    take(activity, "main_rtl");
    TextView label = Screen.find(activity, TextView.class, view -> "Threads".contentEquals(view.getText()));
    View field = activity.findViewById(label.getLabelFor());
    assertTrue("the field is at the end, left of its label", field.getX() < label.getX());
  }

  @Test
  @Config(qualifiers = "w891dp-h411dp-land")
  public void onItsSide() throws Exception {
    take(open(), "main_land");
  }
}
