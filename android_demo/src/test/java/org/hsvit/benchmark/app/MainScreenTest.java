package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import android.view.View;
import android.widget.TextView;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.report.Cluster;
import org.hsvit.benchmark.report.WholeFile;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** The first screen, with models such as those of the demo. */
@RunWith(RobolectricTestRunner.class)
@Config(qualifiers = "w411dp-h891dp-xhdpi")
public class MainScreenTest extends Looks {
  @Rule public final AppFixture fixture = new AppFixture();

  public MainScreenTest() {
    super("main");
  }

  @Before
  public void fill() throws Exception {
    JSONObject described = fixture.phone.described.put("name", "HSViT on digits");
    JSONArray models = described.getJSONArray("models");
    models.put(new JSONObject(models.getString(1)).put("file", "small_int8.tflite"));
    describe(models.getJSONObject(0), "float32 original", 240_496);
    describe(models.getJSONObject(1), "int8", 119_520);
    describe(models.getJSONObject(2), "dynamic", 101_192);
    describe(models.getJSONObject(3), "small int8", 81_568);
    JSONObject small = new JSONObject(described.getJSONArray("pairs").getString(0));
    described.getJSONArray("pairs").put(small.put("name", "small_int8").put("mobile", "small_int8.tflite"));
    fixture.push();
    fixture.cluster(
        new Cluster(List.of(0, 1, 2, 3), 1800, 300), new Cluster(List.of(4, 5, 6, 7), 2900, 1024));
    report("20260102-030405", 1_767_323_045_000L);
    report("20260203-101112", 1_770_113_472_000L);
  }

  private void report(String id, long written) throws Exception {
    File file = new File(Folders.reports(fixture.app), id + ".json");
    WholeFile.write(file, "{}");
    file.setLastModified(written);
  }

  private void describe(JSONObject model, String title, int bytes) throws Exception {
    byte[] content = new byte[bytes];
    fixture.phone.files.put(model.getString("file"), content);
    model.put("title", title).put("bytes", bytes).put("sha256", Contents.sha256(content));
  }

  private MainActivity open() throws Exception {
    MainActivity activity = Robolectric.buildActivity(MainActivity.class).setup().get();
    fixture.await(() -> Screen.text(activity).contains("HSViT on"));
    return activity;
  }

  @Override
  Activity full() throws Exception {
    return open();
  }

  private MainActivity openAndRun() throws Exception {
    MainActivity activity = open();
    fixture.hold(FakePhone.DYNAMIC);
    activity.findViewById(R.id.run).performClick();
    fixture.await(() -> Screen.text(activity).contains("Measuring dynamic, pair 2 of 3"));
    return activity;
  }

  @Test
  public void aRun() throws Exception {
    MainActivity activity = openAndRun();
    fits(activity, "running");
    activity.findViewById(R.id.cancel).performClick();
    fixture.letGo();
    fixture.awaitEnding();
    fits(activity, "ended");
  }

  @Test
  public void aRunInLargeLetters() throws Exception {
    RuntimeEnvironment.setFontScale(2);
    aRunLeavesRoomForTheModels("running_large");
  }

  @Test
  @Config(qualifiers = "w760dp-h360dp-land-xhdpi")
  public void aRunInLargeLettersOnItsSide() throws Exception {
    RuntimeEnvironment.setFontScale(2);
    aRunLeavesRoomForTheModels("running_large_land");
  }

  /** At least a third of the screen. */
  private void aRunLeavesRoomForTheModels(String look) throws Exception {
    MainActivity activity = openAndRun();
    int window = activity.getWindow().getDecorView().getHeight();
    assertTrue(3 * activity.findViewById(R.id.scroll).getHeight() > window);
    fits(activity, look);
    fixture.letGo();
    fixture.awaitEnding();
  }

  @Test
  public void aLongMessageCanBeScrolled() throws Exception {
    RuntimeEnvironment.setFontScale(2);
    JSONObject pair = fixture.phone.described.getJSONArray("pairs").getJSONObject(2);
    pair.put("name", "small_int8 with weights of another training");
    fixture.push().write(AppFixture.KEY + "/original.tflite", new byte[3]);
    MainActivity activity = open();
    activity.findViewById(R.id.run).performClick();
    fixture.awaitEnding();
    Screenshot.take(activity, "main_failed_large");
    assertTrue(activity.findViewById(R.id.status_note).canScrollVertically(1));
  }

  @Test
  public void bundlesSayTheirTaskAndWhatTheyTake() throws Exception {
    FakePhone detector = new FakePhone();
    detector.detect();
    detector.described.put("name", "Deformable DETR");
    fixture.push("detector", detector);
    FakePhone video = new FakePhone();
    video.film();
    video.described.put("name", "TimeSformer");
    fixture.push("video", video);
    MainActivity activity = open();
    fits(activity, "tasks");
    String text = Screen.text(activity);
    for (String told :
        List.of(
            "For classification; they take pictures of 4 × 4 pixels, gray\n10 images to check",
            "For detection; they take pictures of 4 × 4 pixels, gray\n10 images to check",
            "For video classification; they take clips of 2 frames of 4 × 2 pixels, gray\n10 clips to check",
            "These models take clips of 2 frames: they say nothing of a single picture.",
            "Find objects in a picture")) {
      assertTrue(text, text.contains(told));
    }
    List<View> buttons = new ArrayList<>(Screen.views(activity));
    buttons.removeIf(view -> view.getId() != R.id.classify);
    assertEquals(2, buttons.size()); // none for the clips
  }

  @Test
  public void aBundleOfAnotherVersion() throws Exception {
    fixture.write("broken/bundle.json", "{\"bundle_version\": 1}".getBytes());
    MainActivity activity = open();
    fits(activity, "damaged");
    String text = Screen.text(activity);
    String version = "bundle.json: bundle_version is 1, it must be 3: make the bundle again";
    assertTrue(text, text.contains("is not valid.\n" + version));
  }

  @Test
  @Config(qualifiers = "+ar-ldrtl")
  public void fieldsAreAtTheEnd() throws Exception {
    MainActivity activity = open();
    TextView label = Screen.find(activity, TextView.class, view -> "Threads".contentEquals(view.getText()));
    View field = activity.findViewById(label.getLabelFor());
    assertTrue("left of its label", field.getX() < label.getX());
  }
}
