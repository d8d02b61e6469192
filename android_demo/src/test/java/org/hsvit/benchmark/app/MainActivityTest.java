package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.content.DialogInterface;
import android.content.Intent;
import android.view.View;
import android.view.WindowManager;
import android.widget.CheckBox;
import android.widget.EditText;
import android.widget.Spinner;
import android.widget.TextView;
import java.io.File;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.report.Cluster;
import org.hsvit.benchmark.report.Session.Status;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.shadows.ShadowAlertDialog;

/** The first screen: choosing, running, turning the phone, leaving. */
@RunWith(RobolectricTestRunner.class)
public class MainActivityTest {
  @Rule public final AppFixture fixture = new AppFixture();
  private final ActivityController<MainActivity> controller = Robolectric.buildActivity(MainActivity.class);

  private MainActivity open() throws Exception {
    controller.setup();
    fixture.await(() -> has("no models") || has("sums") || has("not valid"));
    return controller.get();
  }

  private boolean has(String text) {
    return Screen.text(controller.get()).contains(text);
  }

  private void click(int id) {
    View view = controller.get().findViewById(id);
    assertTrue("can be clicked", view.isEnabled() && view.getVisibility() == View.VISIBLE);
    view.performClick();
  }

  private CheckBox box(String name) {
    return Screen.find(controller.get(), CheckBox.class, box -> box.getText().toString().startsWith(name));
  }

  private boolean keepsScreenOn() {
    int flags = controller.get().getWindow().getAttributes().flags;
    return (flags & WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON) != 0;
  }

  @Test
  public void withoutModelsItSaysHowToAddSome() throws Exception {
    open();
    assertTrue(has("Add .tflite files"));
    assertTrue(has("Choose what to measure"));
    assertFalse(controller.get().findViewById(R.id.run).isEnabled());
  }

  @Test
  public void aRunMeasuresTheChosenPairsAndShowsItsReport() throws Exception {
    fixture.push();
    open();
    assertTrue(has("2 pairs chosen"));
    box("dynamic").performClick();
    assertTrue(has("1 pair chosen"));
    click(R.id.run);
    assertTrue(keepsScreenOn());
    assertEquals(Status.DONE, fixture.awaitEnding().status);
    assertFalse(keepsScreenOn());
    assertTrue(has("Done: 1 pair was measured"));
    JSONObject report = new JSONObject(Files.readString(fixture.reports().get(0).toPath()));
    assertEquals(2, report.getJSONArray("models").length());
    click(R.id.show_results);
    Intent results = shadowOf(controller.get()).getNextStartedActivity();
    assertEquals(fixture.reports().get(0).getAbsolutePath(), results.getStringExtra("report"));
    assertEquals("org.hsvit.benchmark.app.ResultsActivity", results.getComponent().getClassName());
  }

  @Test
  public void settingsAreUsed() throws Exception {
    fixture.push();
    open();
    EditText blocks = field("Blocks for each model");
    blocks.setText("2");
    field("Least timed runs in a block").setText("3");
    field("Least time of a block, ms").setText("0");
    box("dynamic").performClick();
    click(R.id.run);
    fixture.awaitEnding();
    assertEquals(4 + 20, fixture.app.runs().run().progress().total); // blocks and outputs
    JSONObject report = new JSONObject(Files.readString(fixture.reports().get(0).toPath()));
    JSONArray measured = report.getJSONArray("models").getJSONObject(0).getJSONArray("blocks_ms");
    assertEquals(2, measured.length());
    assertEquals(3, measured.getJSONArray(0).length());
  }

  @Test
  public void aClusterOfCoresIsChosen() throws Exception {
    fixture.push();
    fixture.cluster(new Cluster(List.of(0, 1), 1800, 300), new Cluster(List.of(2, 3), null, 1024));
    open();
    Spinner cores = controller.get().findViewById(R.id.cores);
    assertEquals(View.VISIBLE, cores.getVisibility());
    assertEquals("all cores", cores.getAdapter().getItem(0));
    assertEquals("cores 0-1, up to 1,800 MHz", cores.getAdapter().getItem(1));
    assertEquals("cores 2-3", cores.getAdapter().getItem(2));
    cores.setSelection(2);
    click(R.id.run);
    fixture.awaitEnding();
    JSONObject report = new JSONObject(Files.readString(fixture.reports().get(0).toPath()));
    assertEquals("[2,3]", report.getJSONObject("settings").get("cores").toString());
    assertTrue(fixture.phone.log.contains("bind [2, 3]"));
  }

  @Test
  public void aSingleClusterIsNoChoice() throws Exception {
    fixture.push();
    fixture.cluster(new Cluster(List.of(0, 1, 2, 3), 1800, 1024));
    open();
    assertEquals(View.GONE, controller.get().findViewById(R.id.cores).getVisibility());
  }

  @Test
  public void acceleratorsAreChosen() throws Exception {
    fixture.push();
    open();
    controller.get().findViewById(R.id.cpu).performClick();
    click(R.id.run);
    String text = Screen.text(controller.get());
    assertTrue(text, text.contains("Check the settings: choose what to run on"));
    controller.get().findViewById(R.id.gpu).performClick();
    controller.get().findViewById(R.id.fp16).performClick();
    click(R.id.run);
    fixture.awaitEnding();
    JSONObject report = new JSONObject(Files.readString(fixture.reports().get(0).toPath()));
    assertEquals("int8.tflite on GPU", report.getJSONArray("pairs").getJSONObject(0).getString("mobile"));
    assertTrue(report.getJSONObject("settings").getBoolean("fp16"));
    assertTrue(report.getJSONObject("settings").getBoolean("xnnpack"));
  }

  private EditText field(String label) {
    TextView text =
        Screen.find(controller.get(), TextView.class, view -> label.contentEquals(view.getText()));
    EditText field = controller.get().findViewById(text.getLabelFor());
    assertNotNull("a screen reader finds the field of " + label, field);
    return field;
  }

  @Test
  public void wrongSettingsAreNamed() throws Exception {
    fixture.push();
    open();
    field("Threads").setText("65");
    click(R.id.run);
    assertTrue(has("threads=65 must be from 1 to 64"));
    field("Threads").setText("");
    click(R.id.run);
    assertEquals("Enter a whole number", field("Threads").getError().toString());
    assertNull(fixture.app.runs().run());
  }

  @Test
  public void turningThePhoneKeepsRunAndChoice() throws Exception {
    fixture.push();
    open();
    box("dynamic").performClick();
    field("Threads").setText("2");
    fixture.hold(FakePhone.ORIGINAL);
    click(R.id.run);
    Run run = fixture.app.runs().run();
    controller.recreate();
    fixture.await(() -> has("sums"));
    assertTrue(run == fixture.app.runs().run() && !run.isCancelled());
    assertTrue(has("Measuring int8, pair 1 of 1"));
    assertTrue(keepsScreenOn());
    assertEquals("2", field("Threads").getText().toString());
    assertFalse(box("dynamic").isChecked());
    assertFalse("no change while measuring", box("int8").isEnabled());
    fixture.letGo();
    fixture.awaitEnding();
    assertTrue(has("Done: 1 pair"));
    assertTrue(box("int8").isEnabled());
  }

  @Test
  public void leavingTheAppEndsTheRunAndKeepsWhatIsFinished() throws Exception {
    fixture.push();
    open();
    fixture.hold(FakePhone.DYNAMIC);
    click(R.id.run);
    fixture.await(() -> has("Measuring dynamic, pair 2 of 2"));
    controller.pause().stop();
    fixture.letGo();
    Run.Ending ending = fixture.awaitEnding();
    assertEquals(Status.CANCELLED, ending.status);
    String message = "stopped: the app left the foreground; 1 of 2 pairs were measured";
    assertEquals(message, ending.message);
    assertEquals(fixture.reports().get(0), ending.file);
    controller.restart().start().resume();
    assertTrue(has("The run ended early\n" + message));
  }

  @Test
  public void cancelEndsTheRun() throws Exception {
    fixture.push();
    open();
    fixture.hold(FakePhone.ORIGINAL);
    click(R.id.run);
    assertEquals(View.GONE, controller.get().findViewById(R.id.run).getVisibility());
    click(R.id.cancel);
    assertTrue(has("Stopping…"));
    fixture.letGo();
    Run.Ending ending = fixture.awaitEnding();
    assertEquals(Status.CANCELLED, ending.status);
    assertTrue(has("stopped: the user cancelled the run; 0 of 2 pairs were measured"));
    assertNull(ending.file);
    assertEquals(View.GONE, controller.get().findViewById(R.id.show_results).getVisibility());
  }

  @Test
  public void aBundleThatIsNotValidIsNamedAndCanBeRemoved() throws Exception {
    fixture.write("broken/bundle.json", "{".getBytes());
    open();
    assertTrue(has("broken"));
    assertTrue(has("their bundle.json is not valid"));
    assertFalse(controller.get().findViewById(R.id.run).isEnabled());
    click(R.id.remove);
    ShadowAlertDialog.getLatestAlertDialog()
        .getButton(DialogInterface.BUTTON_POSITIVE)
        .performClick();
    fixture.await(() -> has("no models"));
    assertFalse(new File(Folders.bundles(fixture.app), "broken").exists());
  }

  @Test
  public void onlyClassifiersCanClassifyAPicture() throws Exception {
    fixture.push();
    open();
    assertEquals(View.VISIBLE, controller.get().findViewById(R.id.classify).getVisibility());
    fixture.phone.segment();
    fixture.push();
    controller.pause().stop().restart().start().resume();
    fixture.await(() -> controller.get().findViewById(R.id.classify).getVisibility() == View.GONE);
    box("int8").performClick();
    click(R.id.run);
    assertEquals(Status.DONE, fixture.awaitEnding().status);
  }

  @Test
  public void pairsOfOneBundleAtATime() throws Exception {
    fixture.push();
    fixture.phone.described.put("name", "other");
    fixture.push("zz");
    open();
    fixture.await(() -> has("other"));
    assertTrue(has("A run measures the models of one bundle."));
    CheckBox other =
        Screen.find(
            controller.get(),
            CheckBox.class,
            box -> box.getTag().equals("zz") && box.getText().toString().startsWith("int8"));
    assertFalse(other.isChecked());
    other.performClick();
    assertTrue(has("1 pair chosen"));
    assertFalse(box("int8").isChecked());
    click(R.id.classify);
    Intent classify = shadowOf(controller.get()).getNextStartedActivity();
    assertEquals("sums", classify.getStringExtra("bundle"));
  }
}
