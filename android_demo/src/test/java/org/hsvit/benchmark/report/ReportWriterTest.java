package org.hsvit.benchmark.report;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.MeasurerWithMemory;
import org.hsvit.benchmark.measure.PairMeasurer;
import org.hsvit.benchmark.measure.Settings;
import org.json.JSONObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class ReportWriterTest {
  /** Heats the phone after each pair. */
  private static Session.Watcher heating(FakePhone phone) {
    return new Session.Watcher() {
      @Override
      public void onProgress(Progress progress) {}

      @Override
      public void onPair(Report report) {
        phone.thermalStatus = 1;
      }

      @Override
      public String cancelReason() {
        return null;
      }
    };
  }

  private static Session.Outcome run(FakePhone phone, Settings settings, File file) throws Exception {
    Bundle bundle = phone.bundle();
    PairMeasurer measurer =
        new MeasurerWithMemory(
            phone.benchmark(bundle),
            (model, asked, listener) -> phone.memory(bundle, model, asked),
            phone);
    return new Session(measurer, bundle, SessionTest.DEVICE, phone, file)
        .run(bundle.pairs(), settings, heating(phone));
  }

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  /** A run of a correct pair, a pair with wrong outputs in pieces, and a pair that cannot be measured. */
  private static Session.Outcome eventfulRun(File file) throws Exception {
    FakePhone phone = new FakePhone();
    phone.offsets.put(FakePhone.DYNAMIC, 0.25f);
    phone.delegations.put(FakePhone.DYNAMIC, new Delegation(80, 109, 14));
    phone.files.put("broken.tflite", new byte[3]);
    JSONObject model = new JSONObject(phone.described.getJSONArray("models").get(1).toString());
    phone.described.getJSONArray("models").put(model.put("file", "broken.tflite"));
    phone
        .described
        .getJSONArray("pairs")
        .put(Json.object("name", "broken", "original", FakePhone.ORIGINAL, "mobile", "broken.tflite"));
    phone.cut();
    phone.parallel = 0.6;
    Settings all =
        new Settings.Builder()
            .blocks(6)
            .runs(20)
            .blockMs(0)
            .cooldownMs(500)
            .threadSweep(true)
            .sustainedS(1)
            .cores(List.of(0, 1, 2, 3))
            .build();
    return run(phone, all, file);
  }

  /**
   * The report that Python's tests read: {@code tests/export/data/phone_report.json}. After an intended
   * change, copy it there from target/.
   */
  @Test
  public void theReportIsTheOneThatPythonReads() throws Exception {
    File made = new File("target/phone_report.json");
    eventfulRun(made);
    File checkedIn = new File("../tests/export/data/phone_report.json");
    assertEquals(
        new String(Files.readAllBytes(checkedIn.toPath()), StandardCharsets.UTF_8),
        new String(Files.readAllBytes(made.toPath()), StandardCharsets.UTF_8));
  }

  /** Some languages have other digits, or another lower case of I. */
  @Test
  public void theReportIsTheSameInEveryLanguage() throws Exception {
    Report report = eventfulRun(folder.newFile("r.json")).report;
    String json = Json.text(ReportWriter.toJson(report));
    Locale before = Locale.getDefault();
    try {
      for (String tag : new String[] {"ar-EG-u-nu-arab", "tr-TR"}) {
        Locale.setDefault(Locale.forLanguageTag(tag));
        Report again = eventfulRun(folder.newFile()).report;
        assertEquals(json, Json.text(ReportWriter.toJson(again)));
      }
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  public void aReportNamesItsTask() throws Exception {
    FakePhone phone = new FakePhone();
    phone.segment();
    Settings few = new Settings.Builder().blocks(2).runs(3).warmupMs(0).build();
    Report report = run(phone, few, folder.newFile("s.json")).report;
    JSONObject json = ReportWriter.toJson(report);
    assertEquals("segmentation", json.getJSONObject("task").getString("name"));
    JSONObject metric = json.getJSONObject("task").getJSONObject("metric");
    assertEquals("mean_iou", metric.getString("name"));
    assertTrue(metric.getBoolean("higher_is_better"));
    JSONObject agreement = json.getJSONArray("pairs").getJSONObject(0).getJSONObject("agreement");
    assertEquals(3, agreement.length());
    assertEquals(10, agreement.getInt("samples"));
    JSONObject model = json.getJSONArray("models").getJSONObject(0);
    assertEquals(0, model.getJSONObject("metrics").length());
    assertEquals("[1,1,1,3]", model.getJSONArray("outputs").getJSONObject(0).get("shape").toString());
  }

  @Test
  public void aReportOfNothingIsRefused() throws Exception {
    Report report =
        new Report(new FakePhone().bundle(), Settings.DEFAULT, SessionTest.DEVICE, List.of(), List.of());
    assertThrows(IllegalArgumentException.class, () -> ReportWriter.toJson(report));
  }

  @Test
  public void aFileIsReplacedWholeOrNotAtAll() throws Exception {
    File file = folder.newFile("a.txt");
    WholeFile.write(file, "one");
    WholeFile.write(file, "two");
    assertEquals("two", new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8));
    File busy = new File(folder.getRoot(), "busy");
    assertTrue(new File(busy, "inside").mkdirs()); // a folder that is not empty cannot be replaced
    assertThrows(java.io.IOException.class, () -> WholeFile.write(busy, "three"));
    assertEquals(2, folder.getRoot().list().length);
  }

  @Test
  public void numbersAreWrittenAsPythonDoes() {
    assertEquals("1.2", Numbers.fixed(1.25, 1)); // a tie, which goes to the even digit
    assertEquals("1.4", Numbers.fixed(1.45, 1)); // below 1.45 in binary
    assertEquals("1230", Numbers.short3(1234.5));
    assertEquals("0.00123", Numbers.short3(0.00123456));
  }
}
