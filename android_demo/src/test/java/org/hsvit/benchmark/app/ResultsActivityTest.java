package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import android.app.Application;
import android.content.Intent;
import android.net.Uri;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.R;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.annotation.Config;

@RunWith(RobolectricTestRunner.class)
@Config(qualifiers = "w360dp-h1720dp-xhdpi")
public class ResultsActivityTest {
  private final Application app = RuntimeEnvironment.getApplication();
  private File report;

  /** The report that Python's tests read too: a right pair, one with wrong answers, one that failed. */
  @Before
  public void keepReport() throws Exception {
    report = new File(Folders.reports(app), "run1.json");
    report.getParentFile().mkdirs();
    Files.copy(new File("../tests/export/data/phone_report.json").toPath(), report.toPath());
  }

  private ResultsActivity open() {
    Intent intent = new Intent(app, ResultsActivity.class).putExtra("report", report.getPath());
    return Robolectric.buildActivity(ResultsActivity.class, intent).setup().get();
  }

  private void change(Change change) throws Exception {
    JSONObject json = new JSONObject(new String(Files.readAllBytes(report.toPath()), StandardCharsets.UTF_8));
    change.apply(json);
    Files.write(report.toPath(), json.toString().getBytes(StandardCharsets.UTF_8));
  }

  private interface Change {
    void apply(JSONObject report) throws Exception;
  }

  /** All that can be seen, top down. */
  static String seen(View view) {
    List<String> texts = new ArrayList<>();
    collect(view, texts);
    return String.join("\n", texts);
  }

  private static void collect(View view, List<String> texts) {
    if (view.getVisibility() != View.VISIBLE) {
      return;
    }
    if (view instanceof TextView) {
      texts.add(((TextView) view).getText().toString());
    }
    for (int i = 0; view instanceof ViewGroup && i < ((ViewGroup) view).getChildCount(); i++) {
      collect(((ViewGroup) view).getChildAt(i), texts);
    }
  }

  private static ViewGroup card(ResultsActivity activity, int position) {
    return (ViewGroup) activity.<ViewGroup>findViewById(R.id.pairs).getChildAt(position);
  }

  private static String row(ViewGroup card, int position) {
    return card.<ViewGroup>findViewById(R.id.table).getChildAt(position).getContentDescription().toString();
  }

  @Test
  public void aPairSaysWhatWasMeasured() throws Exception {
    ResultsActivity activity = open();
    ViewGroup card = card(activity, 0);
    String seen = seen(card);
    assertTrue(seen, seen.contains("int8 takes 0.502 of the original’s time; 95%: 0.495 to 0.508"));
    assertEquals("p50: original 2.10 ms, int8 1.05 ms", row(card, 1));
    assertEquals("p90: original 2.18 ms, int8 1.09 ms", row(card, 2));
    assertEquals("p99: original 2.20 ms, int8 1.10 ms", row(card, 3));
    assertEquals("Size: original 26 bytes, int8 22 bytes", row(card, 6));
    assertEquals("Accuracy: original 90%, int8 90%", row(card, 7));
    assertEquals("Answers: original ✓ right, int8 ✓ right", row(card, 8));
    assertTrue(seen, seen.contains("Same answer to 100% of 10 images"));
    assertTrue(seen, seen.contains("Battery: 81% before, 81% after"));
    Screenshot.take(activity, "results_light");
  }

  @Test
  @Config(qualifiers = "+night")
  public void dark() throws Exception {
    Screenshot.take(open(), "results_dark");
  }

  @Test
  @Config(qualifiers = "+h2900dp")
  public void largeFont() throws Exception {
    RuntimeEnvironment.setFontScale(2);
    Screenshot.take(open(), "results_large");
  }

  @Test
  @Config(qualifiers = "+ar-ldrtl")
  public void rightToLeft() throws Exception {
    Screenshot.take(open(), "results_rtl");
  }
}
