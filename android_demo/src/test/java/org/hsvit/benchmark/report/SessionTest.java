package org.hsvit.benchmark.report;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.Settings;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class SessionTest {
  static final Device DEVICE = device(false);
  static final Settings SETTINGS =
      new Settings.Builder().blocks(6).runs(20).blockMs(0).cooldownMs(500).build();

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final FakePhone phone = new FakePhone();
  private final List<String> progress = new ArrayList<>();
  private final List<Long> left = new ArrayList<>();
  private final List<Integer> onDisk = new ArrayList<>();
  private int patience = Integer.MAX_VALUE;
  private File file;

  private final Session.Watcher watcher =
      new Session.Watcher() {
        @Override
        public void onProgress(Progress now) {
          progress.add(now.done + "/" + now.total);
          left.add(now.leftMs);
        }

        @Override
        public void onPair(Report report) {
          look();
        }

        @Override
        public String cancelReason() {
          return progress.size() >= patience ? "the app left the foreground" : null;
        }
      };

  private static Device device(boolean debugBuild) {
    return new Device(
        "Maker Phone 7",
        "SoC 900",
        "arm64-v8a",
        8,
        List.of("asimd", "asimddp"),
        List.of(
            new Cluster(List.of(0, 1, 2, 3), 1800, 300),
            new Cluster(List.of(4, 5, 6, 7), 2900, 1024)),
        "14",
        34,
        8L << 30,
        "1.0",
        debugBuild,
        "Java on Dalvik 2.1.0",
        Map.of("org.tensorflow:tensorflow-lite", "2.16.1"));
  }

  @Before
  public void chooseFile() {
    file = new File(folder.getRoot(), "reports/run1.json");
  }

  private Session.Outcome run(String... names) throws Exception {
    return run(SETTINGS, DEVICE, names);
  }

  private Session.Outcome run(Settings settings, Device device, String... names) throws Exception {
    Bundle bundle = phone.bundle();
    List<Pair> pairs = new ArrayList<>();
    for (String name : names) {
      pairs.add(bundle.pair(name));
    }
    return new Session(phone.benchmark(bundle), bundle, device, phone, file).run(pairs, settings, watcher);
  }

  /** The report is complete whenever a pair is finished. */
  private void look() {
    try {
      onDisk.add(file.exists() ? read().getJSONArray("pairs").length() : 0);
    } catch (Exception error) {
      throw new AssertionError(error);
    }
  }

  private JSONObject read() throws Exception {
    return new JSONObject(new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8));
  }

  private String warnings() throws Exception {
    JSONArray warnings = read().getJSONArray("warnings");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < warnings.length(); i++) {
      JSONObject warning = warnings.getJSONObject(i);
      lines.add(warning.getString("code") + " " + warning.get("model") + ": " + warning.getString("message"));
    }
    return String.join("\n", lines);
  }

  @Test
  public void everyFinishedPairIsOnDiskBeforeTheNextStarts() throws Exception {
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.DONE, outcome.status);
    assertEquals("", outcome.message);
    assertEquals(file, outcome.file);
    assertEquals(List.of(1, 2), onDisk);
    assertEquals(2, outcome.report.results.size());
    assertEquals("0/64", progress.get(0)); // two pairs of 12 blocks and 20 outputs
    assertEquals("12/64", progress.get(13));
    assertEquals("33/64", progress.get(47));
    assertEquals("64/64", progress.get(progress.size() - 1));
    assertEquals("", warnings());
    assertEquals(List.of("run1.json"), List.of(file.getParentFile().list()));
    JSONArray models = read().getJSONArray("models");
    assertEquals("original.tflite (2)", models.getJSONObject(2).getString("name"));
    assertEquals(
        "original.tflite (2)", read().getJSONArray("pairs").getJSONObject(1).getString("original"));
  }

  @Test
  public void theTimeLeftIsEstimated() throws Exception {
    phone.jitter = 0;
    long start = phone.nanoTime();
    run("int8", "dynamic");
    long took = (phone.nanoTime() - start) / 1_000_000;
    assertNull(left.get(0));
    assertEquals(took, left.get(2), 0.3 * took); // after one of 24 blocks
    assertEquals(took / 2.0, left.get(35), 0.05 * took); // after the first pair
    assertEquals(0, (long) left.get(left.size() - 1));
  }

  @Test
  public void pairsShareTheLongestTimeOfARun() throws Exception {
    long start = phone.nanoTime();
    Settings.Builder long10 = new Settings.Builder().blocks(1000).runs(100).warmupMs(0).cooldownMs(0);
    run(long10.limitS(10).build(), DEVICE, "int8", "dynamic");
    assertEquals(10, (phone.nanoTime() - start) / 1e9, 0.5);
    int blocks = read().getJSONArray("models").getJSONObject(0).getJSONArray("blocks_ms").length();
    int last = read().getJSONArray("models").getJSONObject(3).getJSONArray("blocks_ms").length();
    assertEquals(5000 / 315.0, blocks, 1);
    assertEquals(blocks, last, 1);
    assertTrue(left.get(2) <= 10_000);
    String message = blocks + " of 1000 blocks were measured, as the time of the run was over";
    assertTrue(warnings(), warnings().contains("time_limit original.tflite: " + message));
  }

  /** Two models for 20 s each, and sweeps of 4 threads up and down, in each pair. */
  @Test
  public void whatIsMeasuredBesidesCountsInTheTimeLeft() throws Exception {
    phone.jitter = 0;
    Settings more =
        new Settings.Builder().blocks(6).runs(20).cooldownMs(0).sustainedS(20).threadSweep(true).build();
    long start = phone.nanoTime();
    run(more, DEVICE, "int8", "dynamic");
    long took = (phone.nanoTime() - start) / 1_000_000;
    assertTrue("four sustained runs and 56 blocks: " + took, 80_000 < took && took < 90_000);
    assertEquals(took, left.get(4), 0.05 * took);
    int middle = progress.indexOf("168/336"); // a pair has 12 blocks, 16 + 120 steps, 20 outputs
    assertEquals(took / 2.0, left.get(middle), 0.05 * took);
    assertEquals("336/336", progress.get(progress.size() - 1));
    for (int i = 5; i < left.size(); i++) {
      assertTrue(left.get(i - 1) + " ms, then " + left.get(i), left.get(i) <= left.get(i - 1) + 1000);
    }
  }

  @Test
  public void whatIsMeasuredBesidesCountsInTheLongestTime() throws Exception {
    Settings.Builder more = new Settings.Builder().blocks(1000).runs(100).warmupMs(0).cooldownMs(0);
    long start = phone.nanoTime();
    run(more.limitS(20).sustainedS(3).threadSweep(true).build(), DEVICE, "int8", "dynamic");
    assertEquals(20, (phone.nanoTime() - start) / 1e9, 1);
    JSONObject model = read().getJSONArray("models").getJSONObject(3);
    assertEquals(60, model.getJSONArray("sustained").length());
    // 10 s of a pair, less 6 s of sustained runs and 16 blocks of sweeps of 0.16 s, for blocks of 0.315 s.
    assertEquals((10 - 6 - 16 * 0.16) / 0.315, model.getJSONArray("blocks_ms").length(), 2);
  }

  @Test
  public void aSustainedRunEndsWithTheTimeOfTheRun() throws Exception {
    Settings.Builder more = new Settings.Builder().blocks(2).runs(100).warmupMs(0).cooldownMs(0);
    long start = phone.nanoTime();
    run(more.limitS(20).sustainedS(600).build(), DEVICE, "int8");
    assertEquals(20, (phone.nanoTime() - start) / 1e9, 11); // a stretch is 10 s
    JSONArray curve = read().getJSONArray("models").getJSONObject(1).getJSONArray("sustained");
    assertEquals(1, curve.length());
    String message = "it ran without a pause for 10 of 600 s, as the time of the run was over";
    assertTrue(warnings(), warnings().contains("time_limit int8.tflite: " + message));
  }

  @Test
  public void coresThatThePhoneBindsAreReported() throws Exception {
    run(new Settings.Builder().blocks(2).runs(60).cores(List.of(2, 3)).build(), DEVICE, "int8");
    assertEquals("", warnings());
    assertEquals("bind [2, 3]", phone.log.get(0));
    assertEquals("[2,3]", read().getJSONObject("settings").get("cores").toString());
    JSONObject pair = read().getJSONArray("pairs").getJSONObject(0);
    assertEquals("[2,3]", pair.get("cores").toString());
  }

  @Test
  public void coresThatThePhoneRefusesAreOneLine() throws Exception {
    phone.bindsCores = false;
    Settings bound = new Settings.Builder().blocks(2).runs(60).cores(List.of(3)).build();
    assertEquals(Session.Status.DONE, run(bound, DEVICE, "int8", "dynamic").status);
    assertEquals(
        "cores null: cores 3 were asked for, the system ran threads on cores 0-3", warnings());
  }

  /** A sweep has as many threads as there are cores to run on. */
  @Test
  public void aSweepIsOfTheChosenCores() throws Exception {
    Settings bound =
        new Settings.Builder().blocks(2).runs(60).threadSweep(true).cores(List.of(2, 3)).build();
    run(bound, DEVICE, "int8");
    JSONObject model = read().getJSONArray("models").getJSONObject(0);
    assertEquals(2, model.getJSONArray("thread_sweep").length());
  }

  @Test
  public void anErrorOfTheAppEndsOnePairOnly() throws Exception {
    phone.failures.put(FakePhone.INT8, new OutOfMemoryError("Failed to allocate"));
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.FAILED, outcome.status);
    assertEquals("failed null: pair int8 was not measured: out of memory", warnings());
    phone.failures.put(FakePhone.INT8, new IllegalStateException());
    run("int8", "dynamic");
    assertEquals(
        "failed null: pair int8 was not measured: internal error: java.lang.IllegalStateException",
        warnings());
    assertEquals(1, read().getJSONArray("pairs").length());
  }

  @Test
  public void aCancelledSessionKeepsWhatIsFinished() throws Exception {
    patience = 50;
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.CANCELLED, outcome.status);
    assertEquals(
        "stopped: the app left the foreground; 1 of 2 pairs were measured", outcome.message);
    assertEquals(file, outcome.file);
    assertEquals(1, read().getJSONArray("pairs").length());
    assertEquals("stopped null: " + outcome.message, warnings());
  }

  @Test
  public void aSessionThatIsCancelledAtOnceLeavesNoReport() throws Exception {
    patience = 0;
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.CANCELLED, outcome.status);
    assertEquals(
        "stopped: the app left the foreground; 0 of 2 pairs were measured", outcome.message);
    assertNull(outcome.file);
    assertFalse(file.exists());
  }

  @Test
  public void otherPairsAreMeasuredAfterOneFails() throws Exception {
    phone.files.put(FakePhone.INT8, new byte[3]);
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.FAILED, outcome.status);
    String message = "pair int8 was not measured: int8.tflite holds 3 bytes, bundle.json says 22";
    assertEquals("int8.tflite: " + message, outcome.message);
    assertEquals(1, outcome.report.results.size());
    assertEquals(List.of(0, 1), onDisk);
    assertEquals("failed int8.tflite: " + message, warnings());
    assertEquals("64/64", progress.get(progress.size() - 1));
  }

  @Test
  public void ifAllPairsFailThereIsNoReport() throws Exception {
    phone.files.put(FakePhone.ORIGINAL, new byte[3]);
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.FAILED, outcome.status);
    assertTrue(outcome.message, outcome.message.contains("original.tflite holds 3 bytes"));
    assertNull(outcome.file);
    assertFalse(file.exists());
  }

  @Test
  public void resultsAreKeptWhereTheReportCannotBeWritten() throws Exception {
    File taken = folder.newFile("taken");
    file = new File(taken, "run1.json");
    Session.Outcome outcome = run("int8", "dynamic");
    assertEquals(Session.Status.FAILED, outcome.status);
    assertTrue(outcome.message, outcome.message.startsWith("cannot write the report " + file + ": "));
    assertNull(outcome.file);
    assertEquals(1, outcome.report.results.size());
  }

  @Test
  public void wrongOutputsAreReported() throws Exception {
    phone.offsets.put(FakePhone.INT8, 0.25f);
    run("int8");
    String message =
        "WRONG OUTPUTS for 10 of 10 samples: they differ from those of keras 3.15.0 by up to 0.25, "
            + "at most 0.001 is allowed";
    assertEquals("wrong_answers int8.tflite: " + message, warnings());
    JSONObject mobile = read().getJSONArray("models").getJSONObject(1);
    assertFalse(mobile.getJSONObject("reference").getBoolean("right"));
    assertEquals(10, mobile.getJSONObject("reference").getInt("wrong_samples"));
  }

  @Test
  public void outputsThatAreNotFiniteAndModelsWithoutReferenceAreReported() throws Exception {
    phone.described.getJSONArray("models").getJSONObject(1).put("reference", JSONObject.NULL);
    phone.offsets.put(FakePhone.INT8, Float.NaN);
    run("int8");
    assertEquals(
        "not_finite int8.tflite: 10 of 10 outputs hold NaN or infinity\n"
            + "not_checked int8.tflite: its outputs were not checked: there is no reference",
        warnings());
    assertTrue(read().getJSONArray("pairs").getJSONObject(0).isNull("agreement"));
  }

  @Test
  public void noiseAndFewRunsAreReported() throws Exception {
    phone.jitter = 20;
    Settings.Builder few = new Settings.Builder().threads(4).blocks(3).runs(9).blockMs(0).warmupMs(0);
    run(few.cooldownMs(0).build(), device(true), "int8");
    String found = warnings();
    assertTrue(
        found,
        found.contains(
            "debug_build null: measured by a debug build, which is slower than a release build\n"));
    assertTrue(
        found,
        found.contains("noisy original.tflite: one run in ten took 1.7 times the median or longer"));
    for (String model : List.of("original.tflite", "int8.tflite")) {
      assertTrue(
          found,
          found.contains("few_runs " + model + ": p99 of 27 runs is hardly more than their maximum"));
      assertTrue(
          found,
          found.contains("threads " + model + ": 4 threads were asked for, 1.0 CPU cores were busy"));
    }
  }

  @Test
  public void piecesOfTheDelegateAreReported() throws Exception {
    phone.delegations.put(FakePhone.INT8, new Delegation(80, 109, 14));
    run("int8");
    assertEquals(
        "fallback int8.tflite: XNNPACK runs 80 of 109 ops, in 14 pieces: "
            + "the others run on slower kernels in between",
        warnings());
    JSONObject whole = read().getJSONArray("models").getJSONObject(0).getJSONObject("accelerator");
    assertEquals(86, whole.getInt("nodes_delegated"));
    JSONObject cut = read().getJSONArray("models").getJSONObject(1).getJSONObject("accelerator");
    assertEquals(14, cut.getInt("partitions"));
    assertEquals(109, cut.getInt("nodes_total"));
  }

  /** Some phones show an app no log; the bundle knows what the delegate of 2.16 takes. */
  @Test
  public void piecesAreThoseOfTheBundleWhereTheLogIsSilent() throws Exception {
    JSONObject expected = Json.object("nodes_delegated", 80, "nodes_total", 109, "partitions", 14);
    phone.described.getJSONArray("models").getJSONObject(1).put("delegation", expected);
    run("int8");
    assertEquals("the log counts where it tells", "", warnings());
    assertEquals("log", accelerator(1).getString("nodes_known_from"));
    phone.logsDelegation = false;
    run("int8");
    assertEquals(
        "fallback int8.tflite: XNNPACK runs 80 of 109 ops, in 14 pieces, as the bundle says, for the runtime's log "
            + "tells nothing: the others run on slower kernels in between",
        warnings());
    assertEquals("bundle", accelerator(1).getString("nodes_known_from"));
    assertEquals(14, accelerator(1).getInt("partitions"));
    assertTrue("the bundle says nothing of the original", accelerator(0).isNull("partitions"));
    assertTrue(accelerator(0).isNull("nodes_known_from"));
  }

  /** Another runtime, or other kernels, take other nodes. */
  @Test
  public void theBundleDoesNotKnowOtherRuntimes() throws Exception {
    phone.logsDelegation = false;
    JSONObject expected = Json.object("nodes_delegated", 80, "nodes_total", 109, "partitions", 14);
    phone.described.getJSONArray("models").getJSONObject(1).put("delegation", expected);
    run(on(Accelerator.GPU), DEVICE, "int8");
    assertTrue(accelerator(1).isNull("partitions"));
    phone.described.put("runtime", "2.17");
    run("int8");
    assertTrue(accelerator(1).isNull("partitions"));
  }

  private JSONObject accelerator(int model) throws Exception {
    return read().getJSONArray("models").getJSONObject(model).getJSONObject("accelerator");
  }

  @Test
  public void heatThatComesAndGoesWhileMeasuringIsReported() throws Exception {
    Bundle bundle = phone.bundle();
    Session.Watcher heating =
        new Session.Watcher() {
          @Override
          public void onProgress(Progress now) {
            phone.thermalStatus = now.done == 3 ? 3 : 0;
          }

          @Override
          public void onPair(Report report) {}

          @Override
          public String cancelReason() {
            return null;
          }
        };
    Settings slow = new Settings.Builder().blocks(3).runs(40).cooldownMs(1000).build();
    new Session(phone.benchmark(bundle), bundle, DEVICE, phone, file)
        .run(bundle.pairs().subList(0, 1), slow, heating);
    assertEquals("thermal null: the device throttled while measuring int8, status 3", warnings());
    JSONObject pair = read().getJSONArray("pairs").getJSONObject(0);
    assertTrue(pair.getJSONArray("during").toString().contains("\"thermal_status\":3"));
  }

  private static Settings on(Accelerator... accelerators) {
    return new Settings.Builder()
        .blocks(3)
        .runs(40)
        .warmupMs(0)
        .accelerators(List.of(accelerators))
        .build();
  }

  private String names() throws Exception {
    JSONArray models = read().getJSONArray("models");
    List<String> names = new ArrayList<>();
    for (int i = 0; i < models.length(); i++) {
      names.add(models.getJSONObject(i).getString("name"));
    }
    return String.join(", ", names);
  }

  @Test
  public void eachAcceleratorMeasuresAllPairs() throws Exception {
    Session.Outcome outcome = run(on(Accelerator.CPU, Accelerator.GPU), DEVICE, "int8", "dynamic");
    assertEquals(Session.Status.DONE, outcome.status);
    assertEquals(
        "original.tflite, int8.tflite, original.tflite (2), dynamic.tflite, original.tflite on GPU, "
            + "int8.tflite on GPU, original.tflite on GPU (2), dynamic.tflite on GPU",
        names());
    assertEquals("", warnings()); // it is four times as fast
    JSONObject gpu = read().getJSONArray("models").getJSONObject(5);
    double cpu = gpu.getJSONObject("accelerator").getDouble("cpu_p50_ms");
    assertEquals(4, cpu / gpu.getJSONObject("latency_ms").getDouble("p50"), 0.2);
    assertTrue(read().getJSONArray("models").getJSONObject(0).getJSONObject("accelerator").isNull("cpu_p50_ms"));
    String total = progress.get(0).substring(progress.get(0).indexOf('/'));
    assertEquals("/" + 4 * (6 + 20), total);
  }

  @Test
  public void anAcceleratorThatIsMissingIsOneLineAndTheRunGoesOn() throws Exception {
    phone.missing.put(Accelerator.GPU, "it does not start on this phone: dlopen failed");
    Session.Outcome outcome = run(on(Accelerator.GPU, Accelerator.CPU), DEVICE, "int8", "dynamic");
    assertEquals(Session.Status.FAILED, outcome.status);
    assertEquals(2, outcome.report.results.size());
    assertEquals(
        "failed null: nothing was measured on the GPU: it does not start on this phone: dlopen failed",
        warnings());
  }

  @Test
  public void whatSilentlyFallsBackToTheCpuIsTold() throws Exception {
    phone.acceleration = 1;
    phone.jitter = 0;
    phone.delegations.put(FakePhone.INT8, new Delegation(0, 109, 0));
    phone.delegations.put(FakePhone.ORIGINAL, new Delegation(80, 109, 3));
    run(on(Accelerator.GPU), DEVICE, "int8");
    String asFast =
        "as fast as on the CPU, %s ms and %s ms: the GPU may have left it to the CPU, or gains nothing\n";
    assertEquals(
        "fallback original.tflite on GPU: GPU delegate runs 80 of 109 ops, in 3 pieces: "
            + "the CPU runs the others in between\n"
            + "fallback original.tflite on GPU: " + String.format(asFast, 2, 2)
            + "fallback int8.tflite on GPU: GPU delegate runs none of 109 ops: the CPU ran them all\n"
            + "fallback int8.tflite on GPU: " + String.format(asFast, 1, 1),
        warnings() + "\n");
  }

  @Test
  public void heatAndPowerSavingAreReported() throws Exception {
    phone.thermalStatus = 2;
    phone.powerSave = true;
    phone.busyCores = 3.26;
    run("int8", "dynamic");
    assertEquals(
        "thermal null: the device throttled before measuring, status 2\n"
            + "power_save null: the device saved power before measuring\n"
            + "thermal null: the device throttled after measuring int8, status 2\n"
            + "power_save null: the device saved power after measuring int8\n"
            + "thermal null: the device throttled after measuring, status 2\n"
            + "power_save null: the device saved power after measuring\n"
            + "threads original.tflite: 1 threads were asked for, 3.3 CPU cores were busy\n"
            + "threads int8.tflite: 1 threads were asked for, 3.3 CPU cores were busy\n"
            + "threads original.tflite (2): 1 threads were asked for, 3.3 CPU cores were busy\n"
            + "threads dynamic.tflite: 1 threads were asked for, 3.3 CPU cores were busy",
        warnings());
  }
}
