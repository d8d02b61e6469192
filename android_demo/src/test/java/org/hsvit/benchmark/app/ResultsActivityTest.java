package org.hsvit.benchmark.app;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.Application;
import android.content.Intent;
import android.net.Uri;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.hsvit.benchmark.R;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** The results screen, with the report that Python's tests read: a correct pair, a wrong one, a failure. */
@RunWith(RobolectricTestRunner.class)
@Config(qualifiers = "w360dp-h760dp-xhdpi")
public class ResultsActivityTest extends Looks {
  private final Application app = RuntimeEnvironment.getApplication();
  private File file;
  private JSONObject report;

  public ResultsActivityTest() {
    super("results");
  }

  /** A run of a demo on two accelerators: names are long, and some models are wrong. */
  @Override
  Activity full() throws Exception {
    return open(ManyModels.of(report));
  }

  @Before
  public void keepReport() throws Exception {
    byte[] bytes = Files.readAllBytes(new File("../tests/export/data/phone_report.json").toPath());
    report = new JSONObject(new String(bytes, StandardCharsets.UTF_8));
    file = new File(Folders.reports(app), "run1.json");
    Files.createDirectories(file.getParentFile().toPath());
    Files.write(file.toPath(), bytes);
  }

  private ResultsActivity open() throws Exception {
    Intent intent = new Intent(app, ResultsActivity.class).putExtra("report", file.getPath());
    ResultsActivity activity = Robolectric.buildActivity(ResultsActivity.class, intent).setup().get();
    Background.await(BenchmarkApplication.of(app)); // which reads the report
    return activity;
  }

  private ResultsActivity openChanged() throws Exception {
    return open(report);
  }

  private ResultsActivity open(JSONObject other) throws Exception {
    Files.write(file.toPath(), other.toString().getBytes(StandardCharsets.UTF_8));
    return open();
  }

  private JSONObject first(String list) throws Exception {
    return report.getJSONArray(list).getJSONObject(0);
  }

  private static View card(ResultsActivity activity, int position) {
    return activity.<ViewGroup>findViewById(R.id.pairs).getChildAt(position);
  }

  private static String row(View card, int position) {
    return card.<ViewGroup>findViewById(R.id.table).getChildAt(position).getContentDescription().toString();
  }

  private static String text(View card, int id) {
    return Screen.text(card.<TextView>findViewById(id));
  }

  private static void assertContains(String part, String text) {
    assertTrue(text, text.contains(part));
  }

  @Test
  public void allMeasurementsOfAPairAreShown() throws Exception {
    ResultsActivity activity = open();
    String asked = "Asked for CPU, 1 thread\n6 alternating blocks of at least 20 runs";
    assertContains("sums\nMaker Phone 7, Android 14\n" + asked + "\n", Screen.text(activity));
    View card = card(activity, 0);
    assertEquals("int8 is 1.99 times as fast as the original", text(card, R.id.headline));
    String ratio = "0.503 of the original’s time; 95% interval: 0.497 to 0.506";
    assertEquals(ratio, text(card, R.id.ratio));
    assertEquals("p50: original 2.09 ms, int8 1.05 ms", row(card, 1));
    assertEquals("p90: original 2.17 ms, int8 1.09 ms", row(card, 2));
    assertEquals("p99: original 2.20 ms, int8 1.10 ms", row(card, 3));
    assertEquals("Size: original 26 bytes, int8 22 bytes", row(card, 6));
    assertEquals("Accuracy: original 90%, int8 90%", row(card, 7));
    assertEquals("Outputs: original ✓ correct, int8 ✓ correct", row(card, 8));
    String agreement = "Compared on 10 samples:\nSame class: 100%\nLargest difference: 0.118";
    assertEquals(agreement, text(card, R.id.agreement));
    assertEquals(View.GONE, card.findViewById(R.id.alarm).getVisibility());
  }

  @Test
  public void theHeadlineSaysWhichIsFaster() throws Exception {
    assertEquals("int8 takes 1.25 times as long as the original", headline(1.25, 1.2, 1.3));
    String same = "No certain difference: int8 is about as fast as the original";
    assertEquals(same, headline(0.98, 0.95, 1.01));
    assertEquals(same, headline(1.02, 0.99, 1.05));
    assertEquals("int8 is 1.11 times as fast as the original", headline(0.9, 0.89, 0.91));
  }

  private String headline(double ratio, double low, double high) throws Exception {
    first("pairs").getJSONObject("ratio").put("value", ratio).put("low", low).put("high", high);
    return text(card(openChanged(), 0), R.id.headline);
  }

  @Test
  public void columnsAreOriginalAndMobile() throws Exception {
    View head = card(open(), 0).<ViewGroup>findViewById(R.id.table).getChildAt(0);
    assertEquals("original", text(head, R.id.original));
    assertEquals("mobile", text(head, R.id.mobile));
  }

  @Test
  public void allModelsComeFirstInATable() throws Exception {
    ResultsActivity activity = open();
    ViewGroup table = activity.findViewById(R.id.overview_table);
    assertEquals("its head, and the original once", 1 + 3, table.getChildCount());
    assertEquals("● 1 int8", text(table.getChildAt(1), R.id.name));
    assertEquals("1.05 ms", text(table.getChildAt(1), R.id.latency));
    assertEquals("90%", text(table.getChildAt(1), R.id.metric));
    assertEquals("22 bytes", text(table.getChildAt(1), R.id.size));
    assertEquals("○ 2 original", text(table.getChildAt(2), R.id.name));
    assertEquals("⚠ 3 dynamic: WRONG", text(table.getChildAt(3), R.id.name));
    String screen = Screen.text(activity);
    assertTrue(screen, screen.indexOf("All models") < screen.indexOf("int8.tflite against"));
    String spoken = activity.findViewById(R.id.trade_off).getContentDescription().toString();
    assertEquals("Accuracy against latency. The best are: int8.", spoken);
  }

  @Test
  public void withoutAMetricThereIsATableAlone() throws Exception {
    report.put("task", new JSONObject("{\"name\": \"tensors\", \"metric\": null, \"agreement\": null}"));
    ResultsActivity activity = openChanged();
    assertEquals(View.GONE, activity.findViewById(R.id.trade_off).getVisibility());
    View row = activity.<ViewGroup>findViewById(R.id.overview_table).getChildAt(1);
    assertEquals("○ 1 int8", text(row, R.id.name));
    assertEquals(View.GONE, row.findViewById(R.id.metric).getVisibility());
  }

  @Test
  public void chartsAreDescribedInWords() throws Exception {
    View card = card(open(), 0);
    assertEquals(
        "Bars. p50: original 2.09 ms, int8 1.05 ms. p90: original 2.17 ms, int8 1.09 ms. "
            + "p99: original 2.20 ms, int8 1.10 ms.",
        card.findViewById(R.id.bars).getContentDescription());
    assertEquals(
        "Histogram. Original: 120 runs of 2.00 ms to 2.20 ms. int8: 120 runs of 1.00 ms to 1.10 ms.",
        card.findViewById(R.id.histogram).getContentDescription());
  }

  @Test
  public void threadsAndMinutesAreDescribedInWords() throws Exception {
    ViewGroup card = (ViewGroup) card(open(), 0);
    String threads = card.getChildAt(card.getChildCount() - 3).getContentDescription().toString();
    assertContains("Median latency by threads, on the CPU. original: 2.12 ms at 1 thread, 0.750 ms at 4", threads);
    assertContains(" at 4 threads. int8: 1.06 ms at 1 thread, 0.37", threads);
    TextView memory = (TextView) card.getChildAt(card.getChildCount() - 6);
    assertEquals("Memory at most: original 16.8 MB, int8 4.19 MB", Screen.text(memory));
    TextView kinds = (TextView) card.getChildAt(card.getChildCount() - 5);
    String told = "Operations of int8, each kind alone:\nMLP: 0.5 ms\nConvolution: 0.25 ms";
    assertEquals(told, Screen.text(kinds));
    String minutes = card.getChildAt(card.getChildCount() - 1).getContentDescription().toString();
    assertContains("Median latency without a pause. original: 2.08 ms at 0.0167 s", minutes);
    assertContains(" ms at 1.0", minutes);
  }

  @Test
  public void chartsAreOfWhatWasMeasured() throws Exception {
    int with = ((ViewGroup) card(open(), 0)).getChildCount();
    for (int i = 0; i < report.getJSONArray("models").length(); i++) {
      report.getJSONArray("models").getJSONObject(i).put("sustained", JSONObject.NULL).remove("thread_sweep");
    }
    assertEquals(with - 4, ((ViewGroup) card(openChanged(), 0)).getChildCount());
  }

  @Test
  public void wrongOutputsAreMarked() throws Exception {
    View card = card(open(), 1);
    TextView alarm = card.findViewById(R.id.alarm);
    assertEquals(View.VISIBLE, alarm.getVisibility());
    assertContains("WRONG OUTPUTS on this phone: dynamic.", alarm.getText().toString());
    assertEquals("no speed in bold", View.GONE, card.findViewById(R.id.headline).getVisibility());
    assertTrue("a sign beside it", alarm.getCompoundDrawablesRelative()[0] != null);
    assertEquals("Outputs: original ✓ correct, dynamic ⚠ WRONG", row(card, 8));
  }

  @Test
  public void outputsThatAreNotFiniteAreWrongWithoutAReferenceToo() throws Exception {
    first("models").put("reference", JSONObject.NULL);
    first("warnings").put("code", "not_finite").put("model", "original.tflite");
    View card = card(openChanged(), 0);
    assertContains("WRONG OUTPUTS on this phone: original.", text(card, R.id.alarm));
  }

  @Test
  public void tasksWithoutMeasuresShowTheLargestDifference() throws Exception {
    report.put("task", new JSONObject("{\"name\": \"tensors\", \"metric\": null, \"agreement\": null}"));
    first("pairs").getJSONObject("agreement").put("max_abs_diff", 0.125).remove("top1_agreement");
    View card = card(openChanged(), 0);
    String agreement = "Compared on 10 samples:\nLargest difference: 0.125";
    assertEquals(agreement, text(card, R.id.agreement));
    assertEquals("Outputs: original ✓ correct, int8 ✓ correct", row(card, 7));
  }

  @Test
  public void measuresOfATaskHaveItsTitles() throws Exception {
    JSONObject error = new JSONObject("{\"name\": \"e\", \"title\": \"Error\", \"is_share\": false}");
    error.put("higher_is_better", false);
    report.put("task", new JSONObject().put("name", "depth").put("metric", error).put("agreement", error));
    first("models").put("metrics", new JSONObject("{\"e\": 12.345}"));
    first("pairs").getJSONObject("agreement").put("e", 0.5);
    View card = card(openChanged(), 0);
    assertEquals("Error: original 12.3, int8 not known", row(card, 7));
    assertContains("\nError: 0.5\n", text(card, R.id.agreement));
  }

  @Test
  public void unknownValuesAreNamed() throws Exception {
    first("models").put("reference", JSONObject.NULL).put("metrics", new JSONObject());
    first("pairs").put("agreement", JSONObject.NULL);
    first("pairs").getJSONObject("ratio").put("low", JSONObject.NULL).put("high", JSONObject.NULL);
    first("pairs").getJSONObject("before").put("thermal_status", JSONObject.NULL);
    report.getJSONObject("settings").put("data", JSONObject.NULL);
    View card = card(openChanged(), 0);
    assertEquals("Outputs: original not checked, int8 ✓ correct", row(card, 8));
    assertEquals("Accuracy: original not known, int8 90%", row(card, 7));
    assertEquals("The outputs were not compared", text(card, R.id.agreement));
    assertContains("one block gives no interval", text(card, R.id.ratio));
    assertContains("Thermal throttling: not known before, none after", text(card, R.id.states));
  }

  @Test
  public void heatAndBatteryAreThoseOfThePair() throws Exception {
    String states = text(card(open(), 1), R.id.states);
    assertEquals("Thermal throttling: light before, light after\nBattery: 81% before, 81% after", states);
  }

  @Test
  public void failuresComeFirstAndWarningsLast() throws Exception {
    String text = Screen.text(open());
    int failure = text.indexOf("Not complete\nbroken.tflite: pair broken was not measured");
    int pair = text.indexOf("int8.tflite against original.tflite");
    int warning = text.indexOf("Warnings\ndynamic.tflite: WRONG OUTPUTS for 10 of 10 samples");
    assertTrue(text, 0 < failure && failure < pair && pair < warning);
  }

  @Test
  public void aReportThatCannotBeReadIsNoCrash() throws Exception {
    Files.write(file.toPath(), "{\"schema_version\": 2, \"too".getBytes());
    assertContains("This report cannot be shown.", Screen.text(open()));
    report.put("schema_version", 1);
    assertContains("its schema_version is 1, this app reads 2", Screen.text(openChanged()));
    report.put("schema_version", 2);
    first("pairs").put("mobile", "other.tflite");
    assertContains("a pair names other.tflite", Screen.text(openChanged()));
    first("pairs").put("mobile", "int8.tflite");
    String whole = report.toString();
    Files.write(file.toPath(), whole.replace("2.06775", "NaN").getBytes()); // its first sample
    assertContains("it has the number NaN", Screen.text(open()));
    Files.delete(file.toPath());
    ResultsActivity activity = open();
    assertContains("This report cannot be shown.", Screen.text(activity));
    assertFalse(activity.findViewById(R.id.share).isShown());
  }

  @Test
  public void theFileIsSharedThroughTheProvider() throws Exception {
    Robolectric.setupContentProvider(ReportsProvider.class, "org.hsvit.benchmark.reports");
    Intent sent = share(R.id.share_json);
    assertEquals("application/json", sent.getType());
    assertTrue("to be read", (sent.getFlags() & Intent.FLAG_GRANT_READ_URI_PERMISSION) != 0);
    Uri uri = sent.getParcelableExtra(Intent.EXTRA_STREAM);
    assertEquals(uri, sent.getClipData().getItemAt(0).getUri());
    // Left open: the JDK keeps Robolectric from closing it.
    InputStream stream = app.getContentResolver().openInputStream(uri);
    assertArrayEquals(Files.readAllBytes(file.toPath()), stream.readAllBytes());
  }

  @Test
  public void theTextSaysWhatTheScreenSays() throws Exception {
    Intent sent = share(R.id.share_text);
    assertEquals("text/plain", sent.getType());
    String text = sent.getStringExtra(Intent.EXTRA_TEXT);
    assertContains("\n1, int8: 1.05 ms, Accuracy 90%, 22 bytes, one of the best\n", text);
    String ratio = "0.503 of the original’s time; 95% interval: 0.497 to 0.506";
    assertContains("\nint8 is 1.99 times as fast as the original\n" + ratio + "\n", text);
    assertContains("\np50: original 2.09 ms, int8 1.05 ms\n", text);
    assertContains("\nWRONG OUTPUTS on this phone: dynamic.", text);
    assertContains("pair broken was not measured", text);
  }

  private Intent share(int button) throws Exception {
    ResultsActivity activity = open();
    activity.findViewById(button).performClick();
    Intent chooser = shadowOf(activity).getNextStartedActivity();
    assertEquals(Intent.ACTION_CHOOSER, chooser.getAction());
    return chooser.getParcelableExtra(Intent.EXTRA_INTENT);
  }
}
