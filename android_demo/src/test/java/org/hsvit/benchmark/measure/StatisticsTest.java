package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

public class StatisticsTest {
  static final Listener PATIENT =
      new Listener() {
        @Override
        public void onProgress(Phase phase, int done, int total) {}

        @Override
        public boolean isCancelled() {
          return false;
        }
      };

  private static final double EXACT = 0;
  private static final double SUMMED = 1e-12; // sums are rounded in another order

  @Test
  public void latenciesAreSummarizedAsPythonDoes() throws Exception {
    JSONArray cases = PhoneNumbers.read().getJSONArray("statistics");
    assertEquals(4, cases.length());
    for (int i = 0; i < cases.length(); i++) {
      JSONObject expected = cases.getJSONObject(i).getJSONObject("summary");
      double[][] blocks = PhoneNumbers.blocks(cases.getJSONObject(i).getJSONArray("original"));
      Summary summary =
          Statistics.summarize(Arrays.stream(blocks).flatMapToDouble(Arrays::stream).toArray());
      assertEquals(expected.getInt("count"), summary.count);
      assertEquals(expected.getDouble("p5"), summary.p5, EXACT);
      assertEquals(expected.getDouble("p50"), summary.p50, EXACT);
      assertEquals(expected.getDouble("p90"), summary.p90, EXACT);
      assertEquals(expected.getDouble("p95"), summary.p95, EXACT);
      assertEquals(expected.getDouble("p99"), summary.p99, EXACT);
      assertEquals(expected.getDouble("min"), summary.min, EXACT);
      assertEquals(expected.getDouble("max"), summary.max, EXACT);
      assertEquals(expected.getDouble("mean"), summary.mean, SUMMED);
      assertEquals(expected.getDouble("std"), summary.std, SUMMED);
    }
  }

  @Test
  public void ratiosAndTheirIntervalsAreThoseOfPython() throws Exception {
    JSONArray cases = PhoneNumbers.read().getJSONArray("statistics");
    for (int i = 0; i < cases.length(); i++) {
      JSONObject expected = cases.getJSONObject(i).getJSONObject("ratio");
      Ratio ratio =
          Statistics.ratioOfMedians(
              PhoneNumbers.blocks(cases.getJSONObject(i).getJSONArray("original")),
              PhoneNumbers.blocks(cases.getJSONObject(i).getJSONArray("mobile")),
              PATIENT);
      assertEquals(expected.getDouble("value"), ratio.value, EXACT);
      assertEquals(expected.getDouble("confidence"), ratio.confidence, EXACT);
      if (i == 0) { // a single block
        assertNull(ratio.low);
        assertNull(ratio.high);
      } else {
        assertEquals(expected.getDouble("low"), ratio.low, EXACT);
        assertEquals(expected.getDouble("high"), ratio.high, EXACT);
      }
    }
  }

  /** What sorting every draw gives, also for blocks of different lengths and for equal values. */
  @Test
  public void mediansOfDrawnBlocksAreThoseOfSorting() {
    Random random = new Random(0);
    for (int round = 0; round < 50; round++) {
      double[][] blocks = new double[1 + random.nextInt(6)][];
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = random.doubles(1 + random.nextInt(5)).map(value -> Math.round(9 * value)).toArray();
      }
      int[] drawn = random.ints(1 + random.nextInt(8), 0, blocks.length).toArray();
      double[] all = Arrays.stream(drawn).mapToObj(i -> blocks[i]).flatMapToDouble(Arrays::stream).toArray();
      Arrays.sort(all);
      double expected = (all[(all.length - 1) / 2] + all[all.length / 2]) / 2;
      assertEquals(expected, new PooledMedian(blocks).of(drawn), 0);
    }
  }

  @Test
  public void theBootstrapIsShownAndEndsWhenItIsCancelled() throws Exception {
    double[][] blocks = {{1, 2}, {2, 3}};
    List<Integer> shown = new ArrayList<>();
    Listener impatient =
        new Listener() {
          @Override
          public void onProgress(Phase phase, int done, int total) {
            assertEquals(Phase.COMPARING, phase);
            shown.add(done);
          }

          @Override
          public boolean isCancelled() {
            return shown.size() == 3;
          }
        };
    assertThrows(
        CancelledException.class, () -> Statistics.ratioOfMedians(blocks, blocks, impatient));
    assertEquals(List.of(0, 200, 400), shown);
  }

  @Test
  public void percentilesFollowTheDefinition() {
    // Eleven values: percentile q lies at position q / 10, counted from 0.
    Summary summary = Statistics.summarize(new double[] {100, 0, 10, 90, 20, 80, 30, 70, 40, 60, 50});
    assertEquals(50, summary.p50, EXACT);
    assertEquals(90, summary.p90, EXACT);
    assertEquals(99, summary.p99, 1e-9);
    assertEquals(5, summary.p5, 1e-9);
  }

  @Test
  public void oneLatencyHasNoSpread() {
    Summary summary = Statistics.summarize(new double[] {7});
    assertEquals(7, summary.p99, EXACT);
    assertEquals(0, summary.std, EXACT);
  }

  @Test
  public void blocksAreDrawnBySplitMix64() {
    // Its first number for the seed 0 is E220A8397B1DCDAF: 0.883 of 2^64.
    assertEquals(88, Statistics.draw(0, 100)[0]);
  }

  @Test
  public void ofEqualOutputsTheFirstIsTheLargest() {
    assertEquals(1, Statistics.argmax(new float[] {1, 3, 3, 2}));
  }
}
