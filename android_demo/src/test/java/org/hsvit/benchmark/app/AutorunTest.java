package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.KeyguardManager;
import android.content.Intent;
import android.util.Log;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.report.Device;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.shadows.ShadowLog;

/** Runs that a computer starts and follows in the log. */
@RunWith(RobolectricTestRunner.class)
public class AutorunTest {
  @Rule public final AppFixture fixture = new AppFixture();

  @Before
  public void push() throws Exception {
    fixture.push();
    ShadowLog.clear();
  }

  private static Intent intent(String pairs) {
    return new Intent(Intent.ACTION_MAIN)
        .putExtra("autorun", true)
        .putExtra("pairs", pairs)
        .putExtra("bundle", AppFixture.KEY)
        .putExtra("run_id", "20260102-030405-abc")
        .putExtra("blocks", 2)
        .putExtra("runs", 3)
        .putExtra("threads", 4);
  }

  private ActivityController<MainActivity> open(Intent intent) throws Exception {
    ActivityController<MainActivity> controller = Robolectric.buildActivity(MainActivity.class, intent).setup();
    Background.await(fixture.app); // which reads the bundle
    return controller;
  }

  private static List<JSONObject> logged(String kind) throws Exception {
    List<JSONObject> lines = new ArrayList<>();
    for (ShadowLog.LogItem item : ShadowLog.getLogsForTag("HsvitBenchmark")) {
      if (item.msg.startsWith(kind + " ")) {
        assertEquals(Log.INFO, item.type);
        lines.add(new JSONObject(item.msg.substring(kind.length() + 1)));
      }
    }
    return lines;
  }

  private JSONObject result() throws Exception {
    List<JSONObject> results = logged("HSVIT_RESULT");
    assertEquals(results.toString(), 1, results.size());
    return results.get(0);
  }

  @Test
  public void aRunLogsItsProgressAndItsReport() throws Exception {
    open(intent("dynamic,int8"));
    fixture.awaitEnding();
    JSONObject result = result();
    assertEquals("20260102-030405-abc", result.getString("run_id"));
    assertEquals("done", result.getString("status"));
    assertEquals("", result.getString("message"));
    assertEquals(2, result.getInt("pairs"));
    assertEquals(fixture.reports().get(0).getAbsolutePath(), result.getString("report"));
    assertEquals("20260102-030405-abc.json", fixture.reports().get(0).getName());
    List<JSONObject> progress = logged("HSVIT_PROGRESS");
    assertEquals(49, progress.size()); // of 2 pairs of 4 blocks and 20 outputs
    for (int i = 0; i < progress.size(); i++) {
      assertEquals(i, progress.get(i).getInt("done"));
      assertEquals(48, progress.get(i).getInt("total"));
    }
    assertEquals("dynamic", fixture.app.runs().run().pairs.get(0).name);
  }

  private String fileOf(String run) throws Exception {
    File file = new File(Folders.runs(fixture.app), run + ".json");
    fixture.await(() -> file.isFile());
    return Files.readString(file.toPath());
  }

  @Test
  public void aFileTellsWhatTheLogTellsLast() throws Exception {
    fixture.hold(FakePhone.ORIGINAL);
    open(intent("int8"));
    JSONObject reached = new JSONObject(fileOf("20260102-030405-abc"));
    assertEquals("20260102-030405-abc", reached.getString("run_id"));
    assertEquals(0, reached.getInt("done"));
    assertEquals(24, reached.getInt("total")); // 4 blocks and 20 outputs
    fixture.letGo();
    fixture.awaitEnding();
    String result = result().toString();
    fixture.await(() -> contains(new File(Folders.runs(fixture.app), "20260102-030405-abc.json"), result));
    open(intent("int4").putExtra("run_id", "refused"));
    assertEquals("failed", new JSONObject(fileOf("refused")).getString("status"));
    open(intent("int8").putExtra("run_id", "next"));
    fixture.awaitEnding();
    fileOf("next");
    assertEquals(List.of("next.json"), List.of(Folders.runs(fixture.app).list()));
  }

  private static boolean contains(File file, String text) {
    try {
      return Files.readString(file.toPath()).equals(text);
    } catch (IOException error) {
      return false; // being replaced
    }
  }

  @Test
  public void whatCannotBeRunFailsWithAReason() throws Exception {
    open(intent("int4"));
    JSONObject result = result();
    assertEquals("failed", result.getString("status"));
    assertEquals("bundle sums has no pair int4, it has int8, dynamic", result.getString("message"));
    assertTrue(result.isNull("report"));
    assertEquals(0, result.getInt("pairs"));
  }

  @Test
  public void acceleratorsAreAskedFor() throws Exception {
    open(
        intent("int8")
            .putExtra("accelerator", "gpu,npu")
            .putExtra("xnnpack", false)
            .putExtra("cool_s", 7)
            .putExtra("cores", "2-3")
            .putExtra("sustained_s", 1)
            .putExtra("fp16", true));
    fixture.awaitEnding();
    JSONObject report = new JSONObject(Files.readString(fixture.reports().get(0).toPath()));
    List<String> models = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      JSONObject model = report.getJSONArray("models").getJSONObject(i);
      models.add(model.getString("name") + ": " + model.getJSONObject("accelerator").getString("requested"));
    }
    assertEquals(
        List.of(
            "original.tflite on GPU: gpu",
            "int8.tflite on GPU: gpu",
            "original.tflite on NPU: npu",
            "int8.tflite on NPU: npu"),
        models);
    assertFalse(report.getJSONObject("settings").getBoolean("xnnpack"));
    assertTrue(report.getJSONObject("settings").getBoolean("fp16"));
    assertEquals(7, report.getJSONObject("settings").getInt("cool_s"));
    assertEquals("[2,3]", report.getJSONObject("settings").get("cores").toString());
    assertEquals(60, report.getJSONArray("models").getJSONObject(3).getJSONArray("sustained").length());
    SavedReport saved = SavedReport.read(fixture.reports().get(0));
    assertEquals("gpu, npu", saved.accelerator);
    assertTrue(ReportCsv.text(saved).contains(",npu,4,2,mobile,int8.tflite on NPU,"));
  }

  @Test
  public void badExtrasFailWithAReason() throws Exception {
    assertEquals("there is no bundle ../files", message(intent("all").putExtra("bundle", "../files")));
    assertEquals("there is no bundle none", message(intent("all").putExtra("bundle", "none")));
    assertEquals("threads=0 must be from 1 to 64", message(intent("all").putExtra("threads", 0)));
    String tpu = message(intent("all").putExtra("accelerator", "cpu, tpu"));
    assertEquals("accelerator=tpu must be one of [cpu, gpu, npu]", tpu);
    String id = message(intent("all").putExtra("run_id", "../x"));
    assertTrue(id, id.startsWith("run_id=../x must be"));
    Intent own = intent("all");
    own.removeExtra("bundle");
    assertEquals("the app was built without a bundle", message(own));
    assertEquals(List.of(), fixture.reports());
  }

  private String message(Intent intent) throws Exception {
    ShadowLog.clear();
    ActivityController<MainActivity> controller = open(intent);
    String message = result().getString("message");
    assertTrue(Screen.text(controller.get()).contains("The run was not started\n" + message));
    return message;
  }

  @Test
  public void aSecondRunIsRefusedAndTheFirstGoesOn() throws Exception {
    fixture.hold(FakePhone.ORIGINAL);
    ActivityController<MainActivity> controller = open(intent("all"));
    controller.newIntent(intent("all").putExtra("run_id", "second"));
    Background.await(fixture.app);
    JSONObject refused = result();
    assertEquals("second", refused.getString("run_id"));
    assertEquals("another run is in progress: 20260102-030405-abc", refused.getString("message"));
    fixture.letGo();
    fixture.awaitEnding();
    assertEquals(2, logged("HSVIT_RESULT").size());
    controller.newIntent(intent("all").putExtra("run_id", "third"));
    Background.await(fixture.app);
    assertEquals("third", fixture.app.runs().run().id);
    fixture.awaitEnding();
    assertEquals("done", logged("HSVIT_RESULT").get(2).getString("status"));
  }

  @Test
  public void leavingTheAppIsLogged() throws Exception {
    fixture.hold(FakePhone.ORIGINAL);
    ActivityController<MainActivity> controller = open(intent("all"));
    controller.pause().stop();
    fixture.letGo();
    fixture.awaitEnding();
    JSONObject result = result();
    assertEquals("cancelled", result.getString("status"));
    assertEquals(
        "stopped: the app left the foreground; 0 of 2 pairs were measured", result.getString("message"));
    assertTrue(result.isNull("report"));
  }

  @Test
  public void aLockedPhoneIsLogged() throws Exception {
    fixture.hold(FakePhone.ORIGINAL);
    ActivityController<MainActivity> controller = open(intent("all"));
    shadowOf(fixture.app.getSystemService(KeyguardManager.class)).setKeyguardLocked(true);
    controller.pause().stop();
    fixture.letGo();
    fixture.awaitEnding();
    String message = result().getString("message");
    assertTrue(message, message.startsWith("stopped: the phone was locked, or its screen turned off;"));
  }

  @Test
  public void anErrorWithoutAMessageIsTold() throws Exception {
    Phone phone = fixture.app.phone;
    Device known = phone.device();
    boolean[] shown = new boolean[1];
    Supplier<Device> failing =
        () -> {
          if (shown[0]) {
            throw new IllegalStateException();
          }
          shown[0] = true; // the first screen asks, then the run
          return known;
        };
    fixture.app.phone =
        new Phone(phone.isolation, phone.runners, phone.decoder, phone.machine, phone.describer, failing);
    assertEquals("java.lang.IllegalStateException", message(intent("all")));
  }

  @Test
  public void anOldIntentStartsNothing() throws Exception {
    ActivityController<MainActivity> controller = open(intent("int8"));
    fixture.awaitEnding();
    Run first = fixture.app.runs().run();
    controller.recreate();
    assertTrue(first == fixture.app.runs().run());
    open(intent("int8").addFlags(Intent.FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY));
    assertFalse(fixture.app.runs().isRunning());
    assertEquals(1, logged("HSVIT_RESULT").size());
  }
}
