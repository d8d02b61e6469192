package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.AlertDialog;
import android.app.Application;
import android.content.DialogInterface;
import android.content.Intent;
import android.os.Looper;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.R;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.shadows.ShadowAlertDialog;
import org.robolectric.shadows.ShadowDialog;

/** A report as CSV, beside another, and deleted. */
@RunWith(RobolectricTestRunner.class)
public class ReportActionsTest {
  private final Application app = RuntimeEnvironment.getApplication();
  private final File folder = Folders.reports(app);
  private JSONObject report;

  @Before
  public void keepReport() throws Exception {
    Folders.delete(folder);
    Files.createDirectories(folder.toPath());
    byte[] bytes = Files.readAllBytes(new File("../tests/export/data/phone_report.json").toPath());
    report = new JSONObject(new String(bytes, StandardCharsets.UTF_8));
    write("second.json");
  }

  private File write(String name) throws Exception {
    File file = new File(folder, name);
    Files.write(file.toPath(), report.toString().getBytes(StandardCharsets.UTF_8));
    return file;
  }

  private ResultsActivity open() {
    String path = new File(folder, "second.json").getPath();
    Intent intent = new Intent(app, ResultsActivity.class).putExtra("report", path);
    return Robolectric.buildActivity(ResultsActivity.class, intent).setup().get();
  }

  private String sharedCsv() {
    ResultsActivity screen = open();
    screen.findViewById(R.id.share_csv).performClick();
    Intent chooser = shadowOf(screen).getNextStartedActivity();
    return chooser.<Intent>getParcelableExtra(Intent.EXTRA_INTENT).getStringExtra(Intent.EXTRA_TEXT);
  }

  @Test
  public void csvHasALineForEachModelOfEachPair() throws Exception {
    report.getJSONObject("device").put("name", "A \"B\", C");
    write("second.json");
    List<String> lines = List.of(sharedCsv().split("\r\n"));
    assertEquals(5, lines.size());
    String heading =
        "device,android,accelerator,threads,pair,role,model,bytes,p50_ms,p90_ms,p99_ms,init_ms,"
            + "first_inference_ms,ratio,ratio_low,ratio_high,agreement,outputs";
    assertEquals(heading, lines.get(0));
    JSONObject ratio = report.getJSONArray("pairs").getJSONObject(0).getJSONObject("ratio");
    assertTrue(lines.get(1), lines.get(1).startsWith("\"A \"\"B\"\", C\","));
    assertTrue(lines.get(1), lines.get(1).contains(",1,original,original.tflite,"));
    assertTrue(lines.get(1), lines.get(1).endsWith(",,,,,correct"));
    String[] mobile = lines.get(2).replace("\"A \"\"B\"\", C\"", "").split(",");
    assertEquals("int8.tflite", mobile[6]);
    assertEquals(ratio.getDouble("value"), Double.parseDouble(mobile[13]), 1e-5);
    assertEquals(ratio.getDouble("low"), Double.parseDouble(mobile[14]), 1e-5);
    assertEquals(ratio.getDouble("high"), Double.parseDouble(mobile[15]), 1e-5);
    assertTrue(lines.get(4), lines.get(4).endsWith(",wrong"));
  }

  @Test
  public void twoReportsAreCompared() throws Exception {
    JSONArray models = report.getJSONArray("models");
    JSONObject latency = models.getJSONObject(1).getJSONObject("latency_ms");
    double later = latency.getDouble("p50");
    latency.put("p50", later / 2);
    report.getJSONObject("device").getJSONObject("os").put("version", "9");
    write("first.json");
    String said = compare();
    assertTrue(said, said.startsWith("Not measured alike:\nAndroid: 9, then "));
    assertFalse(said, said.contains("Threads:"));
    assertTrue(said, said.contains("int8.tflite against original.tflite\n"));
    assertTrue(said, said.contains(String.format("int8: %.3f ms, then %.3f ms, 2.00 times as long", later / 2, later)));
    assertTrue(said, said.contains(" ms, 1.00 times as long"));
    JSONObject ratio = report.getJSONArray("pairs").getJSONObject(0).getJSONObject("ratio");
    String shown =
        String.format(
            "%.3f (%.3f to %.3f)",
            ratio.getDouble("value"), ratio.getDouble("low"), ratio.getDouble("high"));
    assertTrue(said, said.contains("Ratio: " + shown + ", then " + shown));
    assertTrue(said, said.contains("dynamic: wrong outputs, its times are meaningless"));
  }

  private String compare() {
    ResultsActivity screen = open();
    screen.findViewById(R.id.compare).performClick();
    ShadowAlertDialog choice = shadowOf((AlertDialog) ShadowDialog.getLatestDialog());
    assertEquals("Compare with", choice.getTitle().toString());
    assertEquals(1, choice.getItems().length);
    assertEquals("first", choice.getItems()[0].toString());
    choice.clickOnItem(0);
    shadowOf(Looper.getMainLooper()).idle();
    ShadowAlertDialog shown = shadowOf((AlertDialog) ShadowDialog.getLatestDialog());
    return shown.getMessage().toString();
  }

  @Test
  public void reportsOfOtherModelsHaveNothingInCommon() throws Exception {
    String other = report.toString().replace("int8.tflite", "int4.tflite").replace("dynamic", "static");
    Files.write(new File(folder, "first.json").toPath(), other.getBytes(StandardCharsets.UTF_8));
    assertEquals("These reports have no pair of models in common.", compare());
    Files.write(new File(folder, "first.json").toPath(), "{".getBytes(StandardCharsets.UTF_8));
    assertTrue(compare().startsWith("This report cannot be shown."));
  }

  @Test
  public void withoutAnotherReportThereIsNothingToCompareWith() {
    assertFalse(open().findViewById(R.id.compare).isEnabled());
  }

  @Test
  public void aReportIsDeletedAfterAQuestion() {
    ResultsActivity screen = open();
    screen.findViewById(R.id.delete).performClick();
    AlertDialog dialog = (AlertDialog) ShadowDialog.getLatestDialog();
    assertEquals("Delete the report second from this phone?", shadowOf(dialog).getMessage().toString());
    dialog.getButton(DialogInterface.BUTTON_NEGATIVE).performClick();
    shadowOf(Looper.getMainLooper()).idle();
    assertTrue(new File(folder, "second.json").exists());
    screen.findViewById(R.id.delete).performClick();
    ((AlertDialog) ShadowDialog.getLatestDialog()).getButton(DialogInterface.BUTTON_POSITIVE).performClick();
    shadowOf(Looper.getMainLooper()).idle();
    assertFalse(new File(folder, "second.json").exists());
    assertTrue(screen.isFinishing());
  }
}
