package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.hsvit.benchmark.bundle.Measure;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;

/** Which models of a run are the best. */
@RunWith(RobolectricTestRunner.class)
public class OverviewTest {
  private static final Measure ACCURACY = new Measure("accuracy", "Accuracy", true, true);
  private static final Measure ERROR = new Measure("error", "Error", false, false);

  private static Overview.Entry entry(String name, double p50, Double metric, boolean wrong) {
    return new Overview.Entry(name, null, p50, metric, wrong);
  }

  private static List<String> best(Measure metric, Overview.Entry... entries) {
    List<String> best = new ArrayList<>();
    for (Overview.Entry entry : new Overview(metric, List.of(entries)).entries) {
      if (entry.isBest()) {
        best.add(entry.name);
      }
    }
    return best;
  }

  @Test
  public void theBestAreThoseThatNoOtherBeatsInBoth() {
    Overview.Entry slow = entry("slow", 3, 0.9, false);
    Overview.Entry fast = entry("fast", 1, 0.8, false);
    Overview.Entry neither = entry("neither", 3.5, 0.9, false);
    assertEquals(List.of("fast", "slow"), best(ACCURACY, slow, fast, neither));
    assertEquals(List.of("fast"), best(ERROR, slow, fast, neither));
  }

  @Test
  public void twinsAreBothBest() {
    assertEquals(List.of("a", "b"), best(ACCURACY, entry("a", 1, 0.9, false), entry("b", 1, 0.9, false)));
  }

  @Test
  public void wrongModelsAndThoseWithoutAMetricAreNot() {
    assertEquals(
        List.of("right"),
        best(
            ACCURACY, entry("wrong", 1, 0.99, true), entry("unknown", 1, null, false), entry("right", 2, 0.5, false)));
    assertEquals(List.of(), best(null, entry("a", 1, null, false)));
  }

  /** Sorted by time, the best are those that are more accurate than all faster ones. */
  @Test
  public void itIsTheFrontOfManyRandomModels() {
    Random random = new Random(3);
    List<Overview.Entry> entries = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      entries.add(entry("" + i, random.nextDouble(), random.nextDouble(), false));
    }
    double highest = -1;
    for (Overview.Entry entry : new Overview(ACCURACY, entries).entries) {
      assertEquals(entry.name, entry.metric > highest, entry.isBest());
      highest = Math.max(highest, entry.metric);
    }
  }

  @Test
  public void theOriginalOfAllPairsIsOneWithItsMedian() throws Exception {
    Overview overview = Overview.of(SavedReport.read(new File("../tests/export/data/phone_report.json")));
    List<String> names = new ArrayList<>();
    overview.entries.forEach(entry -> names.add(entry.name));
    assertEquals(List.of("int8", "original", "dynamic"), names); // wrong ones last
    assertEquals((2.090965 + 2.07933) / 2, overview.entries.get(1).p50, 1e-9);
    assertTrue(overview.entries.get(2).wrong);
  }

  @Test
  public void namesAreBrokenWhereTheirPartsEnd() {
    assertEquals("calibrated_\u200Bimagenet_\u200Bint8", Words.wrapped("calibrated_imagenet_int8"));
    assertEquals("12\u00A0ms or 3\u00A0bytes", Words.wrapped("12 ms or 3 bytes"));
    assertEquals("int8.tflite: 0.5, -1 and 1.5e-3", Words.wrapped("int8.tflite: 0.5, -1 and 1.5e-3"));
    assertEquals("efficientnetlite0.\u200Bquantized", Words.wrapped("efficientnetlite0.quantized"));
  }
}
