package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.Bundle;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

public class BenchmarkTest {
  private static final Settings FEW =
      new Settings.Builder().blocks(3).runs(2).blockMs(0).warmupMs(1).cooldownMs(120).build();
  private static final long NO_LIMIT = 86_400_000;

  private final FakePhone phone = new FakePhone();
  private final List<String> progress = new ArrayList<>();

  /** Cancels after a number of runs. */
  private final class Patience implements Listener {
    private final int runs;

    Patience(int runs) {
      this.runs = runs;
    }

    @Override
    public void onProgress(Phase phase, int done, int total) {
      progress.add(phase + " " + done + "/" + total);
    }

    @Override
    public boolean isCancelled() {
      return phone.log.stream().filter(line -> line.startsWith("run")).count() >= runs;
    }
  }

  private PairResult measure(String pair, Settings settings) throws Exception {
    return measure(pair, settings, NO_LIMIT);
  }

  private PairResult measure(String pair, Settings settings, long limitMs) throws Exception {
    Bundle bundle = phone.bundle();
    Patience patience = new Patience(Integer.MAX_VALUE);
    return phone.benchmark(bundle).measure(bundle.pair(pair), settings, limitMs, patience);
  }

  private static Settings.Builder blocks(int blocks, int runs) {
    return new Settings.Builder().blocks(blocks).runs(runs).blockMs(0).warmupMs(0).cooldownMs(0);
  }

  private static String block(String model) {
    String run = "run " + model + ".tflite";
    return "sleep 50, sleep 50, sleep 20, " + run + ", " + run + ", " + run;
  }

  @Test
  public void blocksAlternateAndFirstRunsAndWarmUpAreApart() throws Exception {
    PairResult result = measure("int8", FEW);
    String loading = "open original.tflite, open int8.tflite, run original.tflite, run int8.tflite";
    String blocks =
        String.join(
            ", ",
            block("original"), block("int8"),
            block("int8"), block("original"),
            block("original"), block("int8"));
    List<String> outputs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      outputs.add("run original.tflite");
      outputs.add("run int8.tflite");
    }
    String closing = "close int8.tflite, close original.tflite";
    assertEquals(
        String.join(", ", loading, blocks, String.join(", ", outputs), closing),
        String.join(", ", phone.log));
    assertEquals(27 + 10, progress.size());
    assertEquals("COMPARING 0/2000", progress.get(27));
    assertEquals(List.of("TIMING 0/6", "TIMING 1/6"), progress.subList(0, 2));
    assertEquals(List.of("TIMING 6/6", "CHECKING 1/20"), progress.subList(6, 8));
    assertEquals("CHECKING 20/20", progress.get(26));
    assertEquals(3, result.mobile.blocksMs.length);
    assertEquals(2, result.mobile.blocksMs[0].length);
    assertEquals(6, result.mobile.latency.count);
    assertEquals(1.05, result.mobile.warmupMeanMs, 0.05);
    assertEquals(1.05, result.mobile.firstInferenceMs, 0.05);
    assertEquals(2.1, result.original.firstInferenceMs, 0.1);
    assertEquals(12.5, result.original.initMs, 0);
  }

  @Test
  public void everyRunIsKeptAndTheRatioIsOfTheKeptNumbers() throws Exception {
    PairResult result = measure("int8", blocks(6, 20).build());
    assertNull(result.mobile.warmupMeanMs);
    assertEquals(0.5, result.ratio.value, 0.03);
    assertTrue(result.ratio.low <= result.ratio.value && result.ratio.value <= result.ratio.high);
    Ratio again =
        Statistics.ratioOfMedians(
            result.original.blocksMs, result.mobile.blocksMs, StatisticsTest.PATIENT);
    assertEquals(again.high, result.ratio.high, 0);
    double[] all =
        Arrays.stream(result.mobile.blocksMs).flatMapToDouble(Arrays::stream).toArray();
    assertEquals(120, all.length);
    assertEquals(Statistics.summarize(all).p99, result.mobile.latency.p99, 0);
    for (double latency : all) { // of 10 ns
      assertEquals(latency, Math.rint(latency * 1e5) / 1e5, 0);
    }
  }

  /** A core's clock rises for 200 ms after each pause, in which a small model runs a thousand times. */
  @Test
  public void aRisingClockDoesNotBiasSmallModels() throws Exception {
    phone.rampMs = 200;
    phone.fastestMs = 0.1;
    phone.jitter = 0.02;
    Settings.Builder ramped = new Settings.Builder().blocks(2);
    PairResult biased = measure("int8", ramped.warmupMs(0).blockMs(0).build());
    assertTrue("" + biased.mobile.latency.p50, biased.mobile.latency.p50 > 2.5 * phone.fastestMs);
    PairResult result = measure("int8", ramped.warmupMs(1000).build());
    assertEquals(1.01 * phone.fastestMs, result.mobile.latency.p50, 0.02 * phone.fastestMs);
    assertEquals(1.02 * 2 * phone.fastestMs, result.original.latency.p99, 0.04 * phone.fastestMs);
    assertEquals(0.5, result.ratio.value, 0.01);
  }

  @Test
  public void theWarmUpEndsOnceTheLatencyIsSteadyOrItsTimeIsOver() throws Exception {
    phone.jitter = 0;
    measure("int8", blocks(1, 1).warmupMs(1000).build());
    // Three windows of 25 ms: of 13 runs of 2 ms, and of 25 of 1 ms; the first and the timed run; ten images.
    assertEquals(1 + 3 * 13 + 1 + 10, runsOf("original"));
    assertEquals(1 + 3 * 25 + 1 + 10, runsOf("int8"));
    phone.log.clear();
    phone.jitter = 5;
    measure("int8", blocks(1, 1).warmupMs(10).build());
    assertTrue(runsOf("int8") <= 1 + 10 + 1 + 10);
  }

  private long runsOf(String model) {
    return phone.log.stream().filter(("run " + model + ".tflite")::equals).count();
  }

  @Test
  public void blocksOfFastModelsHaveMoreRuns() throws Exception {
    PairResult result = measure("int8", blocks(3, 10).blockMs(40).build());
    double[] first = result.mobile.blocksMs[0];
    double[] withoutLast = Arrays.copyOf(first, first.length - 1);
    assertTrue(Arrays.stream(first).sum() >= 40 && Arrays.stream(withoutLast).sum() < 40);
    for (double[] block : result.mobile.blocksMs) {
      assertEquals(first.length, block.length);
    }
    assertTrue(result.original.blocksMs[0].length < first.length);
  }

  @Test
  public void theTimeOfARunIsLimited() throws Exception {
    phone.jitter = 0;
    Settings settings = blocks(100, 10).build(); // 30 ms a round, and 2 blocks in any case
    assertEquals(3, measure("int8", settings, 100).original.blocksMs.length);
    assertEquals(2, measure("int8", settings, 0).mobile.blocksMs.length);
    assertEquals("TIMING 6/200", progress.get(6));
    assertEquals("CHECKING 1/20", progress.get(7));
  }

  @Test
  public void aWarmPhoneIsWaitedForUntilItIsCoolOrTheTimeIsOver() throws Exception {
    phone.thermalStatus = 1;
    phone.coolFrom = phone.nanoTime() + 2_500_000_000L;
    PairResult result = measure("int8", blocks(2, 2).build());
    assertEquals(List.of("COOLING 0/60", "COOLING 1/60", "COOLING 2/60", "TIMING 0/4"), progress.subList(0, 4));
    assertEquals(3, result.cooledS);
    assertEquals(0, (int) result.before.thermalStatus);
    phone.thermalStatus = 1;
    phone.coolFrom = Long.MAX_VALUE;
    result = measure("int8", blocks(2, 2).coolS(2).build());
    assertEquals(2, result.cooledS);
    assertEquals(1, (int) result.before.thermalStatus);
    assertEquals(0, measure("int8", blocks(2, 2).coolS(0).build()).cooledS);
  }

  @Test
  public void heatIsReadAboutOnceASecondWhileBlocksAreTimed() throws Exception {
    PairResult result = measure("int8", new Settings.Builder().blocks(8).runs(100).warmupMs(0).build());
    double seconds = (result.during.get(result.during.size() - 1).time - result.before.time) / 1000.0;
    assertTrue(result.during.size() >= 2 && result.during.size() <= seconds + 1);
    for (int i = 1; i < result.during.size(); i++) {
      assertTrue(result.during.get(i).time - result.during.get(i - 1).time >= 1000);
    }
  }

  @Test
  public void everyNumberOfThreadsIsTimed() throws Exception {
    phone.parallel = 0.5;
    phone.jitter = 0;
    PairResult result = measure("int8", blocks(2, 5).threadSweep(true).build());
    List<ThreadTime> times = result.mobile.extra.threads;
    assertEquals(4, times.size());
    for (int i = 0; i < 4; i++) {
      assertEquals(i + 1, times.get(i).threads);
      assertEquals(10, times.get(i).runs);
      assertEquals(phone.fastestMs / (1 + 0.5 * i), times.get(i).p50, 1e-4);
    }
    assertTrue(progress.contains("TIMING_MORE 16/16"));
    assertNull(measure("int8", FEW).mobile.extra.threads);
    Settings gpu = blocks(2, 5).threadSweep(true).accelerators(List.of(Accelerator.GPU)).build();
    assertNull(measure("int8", gpu).mobile.extra.threads);
  }

  @Test
  public void eachKindOfOperationIsTimed() throws Exception {
    phone.cut();
    PairResult result = measure("int8", FEW);
    assertNull("the original is not cut", result.original.extra.kinds);
    List<KindTime> kinds = result.mobile.extra.kinds;
    assertEquals(2, kinds.size());
    assertEquals("MLP", kinds.get(0).kind);
    assertEquals(2, kinds.get(0).files);
    assertEquals(0.5, kinds.get(0).p50, 1e-4); // two files of a quarter of a millisecond
    assertEquals("Convolution", kinds.get(1).kind);
    assertEquals(0.25, kinds.get(1).p50, 1e-4);
    assertTrue(progress.contains("TIMING_MORE 3/3"));
    assertTrue(phone.log.contains("close cuts/int8/MLP_1.tflite"));
  }

  @Test
  public void aKindThatDoesNotRunHasNoTime() throws Exception {
    phone.cut();
    phone.files.put("cuts/int8/MLP_1.tflite", new byte[] {1});
    List<KindTime> kinds = measure("int8", FEW).mobile.extra.kinds;
    assertNull(kinds.get(0).p50);
    assertEquals(2, kinds.get(0).files);
    assertEquals(0.25, kinds.get(1).p50, 1e-4);
  }

  @Test
  public void aSustainedRunGivesACurve() throws Exception {
    phone.jitter = 0;
    phone.fastestMs = 50;
    PairResult result = measure("int8", blocks(2, 2).sustainedS(120).build());
    List<SustainedTime> curve = result.mobile.extra.sustained;
    assertEquals(60, curve.size());
    assertEquals(2, curve.get(0).seconds, 0.01);
    assertEquals(120, curve.get(59).seconds, 0.2);
    assertEquals(40, curve.get(30).runs);
    assertEquals(50, curve.get(30).p50, 1e-4);
    assertEquals(100, result.original.extra.sustained.get(59).p50, 1e-4);
    assertEquals(31.5, curve.get(59).state.batteryCelsius, 0);
    assertEquals(2, result.mobile.blocksMs.length); // its runs are not counted
    assertNull(measure("int8", FEW).mobile.extra.sustained);
  }

  @Test
  public void onlyOnePictureIsHeldAtATime() throws Exception {
    int[] decoded = new int[1];
    PictureDecoder counting =
        (stream, channels) -> {
          decoded[0]++;
          return phone.decode(stream, channels);
        };
    Bundle bundle = phone.bundle();
    Benchmark benchmark = new Benchmark(bundle, phone, counting, phone);
    for (int pair = 0; pair < 2; pair++) {
      benchmark.measure(bundle.pairs().get(pair), FEW, NO_LIMIT, new Patience(Integer.MAX_VALUE));
    }
    assertEquals(10 + 2 * (2 * 8 + 10), decoded[0]); // all once before the first pair; timed; checked
  }

  @Test
  public void eightPicturesTakeTurns() throws Exception {
    PairResult result = measure("int8", blocks(1, 20).build());
    List<Float> first = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Picture picture = phone.decode(phone.open("images/" + i + ".png"), 1);
      first.add(Preparation.prepare(picture, result.pair.original).getFloat(0));
    }
    // The very first run of each showed picture 0, so the original's block begins with picture 1.
    assertEquals(first.get(0), phone.shown.get(1));
    for (int run = 0; run < 20; run++) {
      assertEquals(first.get((run + 1) % 8), phone.shown.get(2 + run));
    }
    assertNull(result.ratio.low); // of a single block
  }

  @Test
  public void busyCoresAreCpuTimeOverTimePassed() throws Exception {
    phone.busyCores = 3.5;
    assertEquals(3.5, measure("int8", FEW).original.busyCores, 0.001);
  }

  @Test
  public void outputsAreComparedWithReferencesLabelsAndEachOther() throws Exception {
    PairResult result = measure("int8", FEW);
    assertTrue(result.original.reference.isRight());
    assertTrue(result.mobile.reference.isRight());
    assertEquals(10, result.mobile.reference.samples);
    assertEquals(0.001, result.mobile.reference.limit, 0);
    assertEquals("keras 3.15.0", result.mobile.reference.runtime);
    assertFalse(result.mobile.isWrong());
    assertEquals(Map.of("accuracy", 0.9), result.original.metrics); // one label is wrong
    assertEquals(10, result.agreement.samples);
    assertTrue(result.agreement.same > 0.8);
    assertEquals(0.125, result.agreement.maxAbsDiff, 0.06); // sums are rounded to quarters
    assertNotEquals(1, result.agreement.cosine, 0);
  }

  @Test
  public void outputsOfOtherTasksAreComparedAsNumbersOnly() throws Exception {
    phone.segment();
    PairResult result = measure("int8", FEW);
    assertTrue(result.mobile.reference.isRight());
    assertEquals(0.125, result.agreement.maxAbsDiff, 0.06);
    assertNull(result.agreement.same);
    assertEquals(Map.of(), result.mobile.metrics);
  }

  @Test
  public void aWrongOutputMakesAModelWrong() throws Exception {
    phone.offsets.put(FakePhone.INT8, 0.25f);
    PairResult result = measure("int8", FEW);
    assertTrue(result.original.reference.isRight());
    assertFalse(result.mobile.reference.isRight());
    assertEquals(10, result.mobile.reference.wrongSamples);
    assertEquals(0.25, result.mobile.reference.maxAbsDiff, 1e-6);
    assertTrue(result.mobile.isWrong());
  }

  @Test
  public void theLimitItselfIsRight() throws Exception {
    phone.offsets.put(FakePhone.INT8, 0.25f); // exact, as are quarters
    for (int i = 0; i < 3; i++) {
      JSONObject model = phone.described.getJSONArray("models").getJSONObject(i);
      JSONArray outputs = model.getJSONObject("reference").getJSONArray("outputs");
      outputs.getJSONObject(0).put("max_abs_diff", 0.25);
    }
    assertTrue(measure("int8", FEW).mobile.reference.isRight());
  }

  @Test
  public void aDetectorIsCheckedByItsNumbersAndItsBoxes() throws Exception {
    phone.detect();
    PairResult result = measure("int8", FEW);
    assertTrue(result.original.reference.isRight());
    assertTrue(result.mobile.reference.isRight());
    assertEquals(Map.of(), result.mobile.metrics);
    assertTrue(result.agreement.cosine > 0.98);
    // All pictures have the second box; rounding keeps the first one's class where it is not near one half.
    assertTrue(result.agreement.same > 0.7);
    phone.offsets.put(FakePhone.INT8, 0.25f); // the first number of the boxes
    ReferenceCheck wrong = measure("int8", FEW).mobile.reference;
    assertEquals(10, wrong.wrongSamples);
    assertEquals(0.25, wrong.maxAbsDiff, 1e-6);
    assertEquals(0.0001, wrong.limit, 0);
  }

  @Test
  public void clipsAreClassified() throws Exception {
    phone.film();
    PairResult result = measure("int8", FEW);
    assertTrue(result.mobile.reference.isRight());
    assertTrue(result.agreement.same > 0.8);
    assertEquals(Map.of("accuracy", 0.9), result.original.metrics);
  }

  @Test
  public void correctOutputsThatAreDamagedAreNamed() throws Exception {
    phone.files.get("int8.bin")[7] ^= 1;
    ModelException error = assertThrows(ModelException.class, () -> measure("int8", FEW));
    assertEquals(FakePhone.INT8, error.file);
    assertTrue(error.getMessage(), error.getMessage().startsWith("int8.bin has SHA-256 "));
  }

  @Test
  public void boxesOfAPictureAreThoseThatAreKept() throws Exception {
    phone.detect();
    Bundle bundle = phone.bundle();
    Picture picture = phone.decode(phone.open("images/1.png"), 1);
    try (Classifier detector =
        Classifier.open(bundle, bundle.model(FakePhone.ORIGINAL), phone, Settings.DEFAULT)) {
      List<Prediction> boxes = detector.classify(picture, 1).top;
      Prediction two = boxes.stream().filter(box -> box.box[0] > 0.4).findFirst().get();
      assertEquals("two", two.label);
      assertEquals(1 / (1 + Math.exp(-3)), two.probability, 1e-6);
      assertArrayEquals(new float[] {0.45f, 0.35f, 0.95f, 0.95f}, two.box, 1e-6f);
      boxes.forEach(box -> assertTrue(box.probability >= 0.5));
    }
  }

  @Test
  public void outputsThatAreNotFiniteAreWrongAndNotCompared() throws Exception {
    phone.offsets.put(FakePhone.INT8, Float.NaN);
    PairResult result = measure("int8", FEW);
    assertEquals(10, result.mobile.notFinite);
    assertEquals(10, result.mobile.reference.wrongSamples);
    assertNull(result.mobile.reference.maxAbsDiff);
    assertNull(result.agreement);
    assertEquals(Map.of("accuracy", 0.0), result.mobile.metrics);
    phone.offsets.put(FakePhone.INT8, Float.POSITIVE_INFINITY);
    assertNull(measure("int8", FEW).mobile.reference.maxAbsDiff);
  }

  @Test
  public void notFiniteIsWrongWithoutAReferenceToo() throws Exception {
    withoutReferences();
    phone.offsets.put(FakePhone.INT8, Float.NaN);
    PairResult result = measure("int8", FEW);
    assertNull(result.mobile.reference);
    assertTrue(result.mobile.isWrong());
    assertFalse(result.original.isWrong());
  }

  @Test
  public void withoutImagesNothingIsCompared() throws Exception {
    withoutReferences();
    phone.described.put("images", new JSONArray());
    PairResult result = measure("int8", FEW);
    assertNull(result.agreement);
    assertNull(result.mobile.reference);
    assertEquals(Map.of(), result.mobile.metrics);
    assertEquals(6, result.mobile.latency.count);
  }

  private void withoutReferences() throws Exception {
    for (int i = 0; i < 3; i++) {
      phone.described.getJSONArray("models").getJSONObject(i).put("reference", JSONObject.NULL);
    }
  }

  @Test
  public void cancellingEndsWithinOneRun() throws Exception {
    Bundle bundle = phone.bundle();
    Benchmark benchmark = phone.benchmark(bundle);
    for (int runs : new int[] {1, 4, 13, 25}) { // first, warm-up, timed, and on the images
      phone.log.clear();
      assertThrows(
          CancelledException.class,
          () -> benchmark.measure(bundle.pair("int8"), FEW, NO_LIMIT, new Patience(runs)));
      assertEquals(runs, phone.log.stream().filter(line -> line.startsWith("run")).count());
      assertEquals("close original.tflite", phone.log.get(phone.log.size() - 1));
      assertTrue(phone.log.contains("close int8.tflite"));
    }
  }

  @Test
  public void cancellingDoesNotWaitForTheDeviceToCool() throws Exception {
    Bundle bundle = phone.bundle();
    assertThrows(
        CancelledException.class,
        () -> phone.benchmark(bundle).measure(bundle.pair("int8"), FEW, NO_LIMIT, new Patience(2)));
    assertFalse(String.join(", ", phone.log).contains("sleep"));
  }

  @Test
  public void aFileOfAnotherSizeIsNotRun() throws Exception {
    phone.files.put(FakePhone.INT8, new byte[3]);
    ModelException error = assertThrows(ModelException.class, () -> measure("int8", FEW));
    assertEquals("int8.tflite holds 3 bytes, bundle.json says 22", error.getMessage());
    assertEquals(FakePhone.INT8, error.file);
    assertFalse(String.join(", ", phone.log).contains("run"));
    assertFalse(String.join(", ", phone.log).contains("open int8.tflite"));
  }

  @Test
  public void aFileOfOtherBytesIsNotRun() throws Exception {
    phone.files.get(FakePhone.ORIGINAL)[0] = 'C';
    ModelException error = assertThrows(ModelException.class, () -> measure("int8", FEW));
    assertTrue(
        error.getMessage(),
        error.getMessage().matches(
            "original.tflite has SHA-256 [0-9a-f]{64}, bundle.json says [0-9a-f]{64}"));
    assertTrue(phone.log.isEmpty());
  }

  @Test
  public void aMissingFileAndADamagedImageAreNamed() throws Exception {
    byte[] content = phone.files.remove(FakePhone.INT8);
    ModelException error = assertThrows(ModelException.class, () -> measure("int8", FEW));
    assertEquals("there is no int8.tflite", error.getMessage());
    phone.files.put(FakePhone.INT8, content);
    phone.files.put("images/3.png", new byte[5]);
    error = assertThrows(ModelException.class, () -> measure("int8", FEW));
    assertEquals("images/3.png: it is damaged or no image", error.getMessage());
    assertFalse(String.join(", ", phone.log).contains("run"));
  }

  @Test
  public void thermalStateIsReadBeforeAndAfter() throws Exception {
    PairResult result = measure("int8", FEW);
    assertTrue(result.after.time > result.before.time);
  }

  @Test
  public void classifyingNamesTheMostLikelyClasses() throws Exception {
    Bundle bundle = phone.bundle();
    Picture picture = phone.decode(phone.open("images/1.png"), 1);
    try (Classifier classifier =
        Classifier.open(bundle, bundle.model(FakePhone.ORIGINAL), phone, Settings.DEFAULT)) {
      Classifier.Result result = classifier.classify(picture, 2);
      assertEquals(2, result.top.size());
      assertTrue(result.milliseconds >= 0);
      Prediction best = result.top.get(0);
      assertEquals((int) bundle.images().get(1).label, best.index);
      assertEquals(bundle.classNames().get(best.index), best.label);
      double sum = classifier.classify(picture, 5).top.stream().mapToDouble(p -> p.probability).sum();
      assertEquals(1, sum, 1e-9);
      float[] logits = bundle.model(FakePhone.ORIGINAL).reference.read(phone)[1];
      double odds = best.probability / result.top.get(1).probability;
      double expected = Math.exp(logits[best.index] - logits[result.top.get(1).index]);
      assertEquals(expected, odds, 1e-6 * odds);
      assertNull(best.box);
    }
    assertEquals("close original.tflite", phone.log.get(phone.log.size() - 1));
  }

  @Test
  public void probabilitiesAreTheSoftmaxOfLogits() {
    double e = Math.E;
    assertArrayEquals(
        new double[] {1 / (1 + e + e * e), e / (1 + e + e * e), e * e / (1 + e + e * e)},
        Classifier.probabilities(new float[] {500, 501, 502}),
        1e-12);
    assertArrayEquals(
        new double[] {0.25, 0.5, 0.25}, Classifier.probabilities(new float[] {0.25f, 0.5f, 0.25f}), 0);
    assertEquals(0.5, Classifier.probabilities(new float[] {0.5f, 0.5f, 0.02f})[0], 0.01); // rounded
    assertTrue(Classifier.probabilities(new float[] {-1, 2})[1] < 1); // the sum is 1, but they are logits
  }

  @Test
  public void classifyingRefusesWhatIsNotFiniteAndFilesOfOtherBytes() throws Exception {
    Bundle bundle = phone.bundle();
    Picture picture = phone.decode(phone.open("images/1.png"), 1);
    phone.offsets.put(FakePhone.INT8, Float.NaN);
    try (Classifier classifier =
        Classifier.open(bundle, bundle.model(FakePhone.INT8), phone, Settings.DEFAULT)) {
      ModelException error =
          assertThrows(ModelException.class, () -> classifier.classify(picture, 5));
      assertEquals("int8.tflite gives NaN or infinity", error.getMessage());
    }
    phone.files.get(FakePhone.INT8)[0] = 'C';
    assertThrows(
        ModelException.class,
        () -> Classifier.open(bundle, bundle.model(FakePhone.INT8), phone, Settings.DEFAULT));
  }

  @Test
  public void settingsOutOfRangeAreRefused() {
    IllegalArgumentException error =
        assertThrows(
            IllegalArgumentException.class, () -> new Settings.Builder().threads(0).build());
    assertEquals("threads=0 must be from 1 to 64", error.getMessage());
    error =
        assertThrows(
            IllegalArgumentException.class, () -> new Settings.Builder().cooldownMs(-1).build());
    assertEquals("cooldown_ms=-1 must be from 0 to 600000", error.getMessage());
  }
}
