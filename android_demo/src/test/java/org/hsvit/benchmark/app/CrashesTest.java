package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.content.ComponentName;
import android.content.ServiceConnection;
import android.net.Uri;
import java.io.File;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.AcceleratorException;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.PairMeasurer;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Session.Status;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.shadows.ShadowApplication;

/** The process that measures, and what is left after a crash of it or of the app. */
@RunWith(RobolectricTestRunner.class)
public class CrashesTest {
  private static final Settings FEW = new Settings.Builder().blocks(3).runs(2).build();

  @Rule public final AppFixture fixture = new AppFixture();
  private final BenchmarkApplication app = fixture.app;
  private final ShadowApplication shadow = shadowOf(app);

  private Object ended;
  private volatile boolean cancelled;

  /** Robolectric has one process: the service runs in it and is told to have crashed. */
  @Before
  public void bind() throws Exception {
    fixture.push();
    ComponentName name = new ComponentName(app, RunnerService.class);
    RunnerService service = Robolectric.setupService(RunnerService.class);
    shadow.setComponentNameAndServiceForBindService(name, service.onBind(RunnerService.intent(app)));
    Phone phone = app.phone;
    app.phone =
        new Phone(
            new RemoteProcess(app),
            phone.runners,
            phone.decoder,
            phone.machine,
            phone.describer,
            phone::device);
  }

  /** Waits for the process to have begun, and ends it as Android tells it. */
  private void crash() throws Exception {
    crash(1);
  }

  /** The same once loading has come to wait for so many times. */
  private void crash(int times) throws Exception {
    fixture.await(() -> fixture.timesHeld() == times);
    List<ServiceConnection> bound = shadow.getBoundServiceConnections();
    bound.get(bound.size() - 1).onServiceDisconnected(null);
  }

  private void measure(Bundle bundle, Pair pair) {
    Listener listener =
        new Listener() {
          @Override
          public void onProgress(Phase phase, int done, int total) {}

          @Override
          public boolean isCancelled() {
            return cancelled;
          }
        };
    new Thread(
            () -> {
              try {
                PairMeasurer measurer = MeasuringWork.measurer(app.phone, bundle, AppFixture.KEY);
                ended = measurer.measure(pair, FEW, 60_000, listener);
              } catch (Exception error) {
                ended = error;
              }
            })
        .start();
  }

  @Test
  public void aResultComesFromTheProcessAsItIs() throws Exception {
    Bundle bundle = Library.open(app, AppFixture.KEY);
    Pair pair = bundle.pair("int8");
    measure(bundle, pair);
    fixture.await(() -> ended != null);
    PairResult result = (PairResult) ended;
    assertSame(pair, result.pair);
    assertSame(bundle.model(FakePhone.INT8), result.mobile.model);
    assertEquals(3, result.mobile.blocksMs.length);
    assertEquals(0.5, result.ratio.value, 0.05);
    assertEquals(10, result.agreement.samples);
    assertEquals("XNNPACK", result.original.delegate);
    assertTrue(result.after.time > result.before.time);
    fixture.await(() -> shadow.getBoundServiceConnections().isEmpty());
    assertFalse(Arrays.asList(app.getCacheDir().list()).contains("result.bin"));
    assertFalse(Arrays.asList(app.getCacheDir().list()).contains("work.bin"));
  }

  @Test
  public void aFailureComesFromTheProcessWithItsModel() throws Exception {
    fixture.write(AppFixture.KEY + "/int8.tflite", new byte[3]);
    Bundle bundle = Library.open(app, AppFixture.KEY);
    measure(bundle, bundle.pair("int8"));
    fixture.await(() -> ended != null);
    assertEquals("int8.tflite holds 3 bytes, bundle.json says 22", ((Exception) ended).getMessage());
  }

  @Test
  public void aMissingAcceleratorComesFromTheProcess() throws Exception {
    fixture.phone.missing.put(Accelerator.CPU, "it is on holiday");
    Bundle bundle = Library.open(app, AppFixture.KEY);
    measure(bundle, bundle.pair("int8"));
    fixture.await(() -> ended != null);
    assertEquals(Accelerator.CPU, ((AcceleratorException) ended).accelerator);
    assertEquals("it is on holiday", ((AcceleratorException) ended).getMessage());
  }

  @Test
  public void cancellingReachesTheProcess() throws Exception {
    fixture.hold(FakePhone.ORIGINAL);
    Bundle bundle = Library.open(app, AppFixture.KEY);
    measure(bundle, bundle.pair("int8"));
    fixture.await(() -> fixture.isHeld());
    cancelled = true;
    fixture.letGo();
    fixture.await(() -> ended != null);
    assertTrue("" + ended, ended instanceof CancelledException);
  }

  @Test
  public void aProcessThatDoesNotStartIsAFailure() throws Exception {
    shadow.declareComponentUnbindable(new ComponentName(app, RunnerService.class));
    Bundle bundle = Library.open(app, AppFixture.KEY);
    measure(bundle, bundle.pair("int8"));
    fixture.await(() -> ended != null);
    assertEquals("its process does not start", ((Exception) ended).getMessage());
  }

  @Test
  public void aCrashEndsOnePairAndTheRunGoesOn() throws Exception {
    fixture.hold(FakePhone.INT8);
    Bundle bundle = Library.open(app, AppFixture.KEY);
    app.runs().start("r1", AppFixture.KEY, bundle, bundle.pairs(), FEW);
    crash(); // while its memory is measured
    crash(2);
    Run.Ending ending = fixture.awaitEnding();
    fixture.letGo();
    assertEquals(Status.FAILED, ending.status);
    assertEquals(1, ending.measured);
    String text = new String(Files.readAllBytes(ending.file.toPath()), "UTF-8");
    JSONArray warnings = new JSONObject(text).getJSONArray("warnings");
    assertEquals("failed", warnings.getJSONObject(0).getString("code"));
    assertEquals(
        "pair int8 was not measured: its process crashed while loading int8.tflite",
        warnings.getJSONObject(0).getString("message"));
  }

  @Test
  public void theMemoryOfEachModelIsMeasuredInAProcessOfItsOwn() throws Exception {
    Bundle bundle = Library.open(app, AppFixture.KEY);
    measure(bundle, bundle.pair("int8"));
    fixture.await(() -> ended != null);
    PairResult result = (PairResult) ended;
    assertEquals(8 << 20, result.memoryOfOriginal.loaded);
    assertEquals(2 << 20, result.memoryOfMobile.loaded);
    assertEquals(List.of("open original.tflite"), fixture.phone.log.subList(0, 1));
    assertEquals("open int8.tflite", fixture.phone.log.get(5)); // after three runs and the close
  }

  private void crashWhile(Runnable work) throws Exception {
    Thread thread = new Thread(work);
    thread.start();
    crash();
    fixture.await(() -> !thread.isAlive());
    fixture.letGo();
  }

  @Test
  public void aCrashWhileClassifyingIsALine() throws Exception {
    fixture.hold(FakePhone.INT8);
    Bundle bundle = Library.open(app, AppFixture.KEY);
    PairClassifier classifier =
        new PairClassifier(app, app.phone, bundle, AppFixture.KEY, bundle.pair("int8"));
    PairClassifier.Comparison[] both = new PairClassifier.Comparison[1];
    crashWhile(() -> both[0] = classifier.classify(bundle.images().get(0)));
    assertEquals(3, both[0].original.result.top.size());
    String problem = "Cannot be run on this phone: its process crashed while loading int8.tflite";
    assertEquals(problem, both[0].mobile.problem);
    fixture.await(() -> shadow.getBoundServiceConnections().isEmpty());
  }

  @Test
  public void aCrashWhileAddingIsALine() throws Exception {
    fixture.describe(
        (folder, files, range) -> {
          fixture.waitAtGate();
          return null;
        });
    fixture.hold(FakePhone.ORIGINAL);
    File picked = new File(app.getCacheDir(), "a.tflite");
    Files.write(picked.toPath(), "....TFL3....".getBytes("UTF-8"));
    app.additions().add(List.of(Uri.fromFile(picked)), new InputRange(0, 1), List.of());
    crash();
    fixture.await(() -> !app.additions().isBusy());
    fixture.letGo();
    assertEquals(
        "Nothing was added: the runtime of this app does not load a.tflite.\n"
            + "its process crashed while loading a.tflite",
        app.additions().takeMessage());
    assertFalse(new File(Folders.bundles(app), "a").exists());
    assertNull(new Unfinished(app).left());
  }

  @Test
  public void modelsOfTheAppItselfAreClassifiedInItsProcess() throws Exception {
    shadow.declareComponentUnbindable(new ComponentName(app, RunnerService.class));
    Bundle bundle = Library.open(app, AppFixture.KEY);
    PairClassifier classifier =
        new PairClassifier(app, app.phone, bundle, Library.OWN, bundle.pair("int8"));
    PairClassifier.Comparison both = classifier.classify(bundle.images().get(0));
    String problem = "Cannot be run on this phone: the app was built without a bundle"; // and no other
    assertEquals(problem, both.mobile.problem);
  }

  @Test
  public void theNextStartTellsWhatACrashHasEnded() throws Exception {
    fixture.hold(FakePhone.ORIGINAL);
    Bundle bundle = Library.open(app, AppFixture.KEY);
    app.runs().start("r1", AppFixture.KEY, bundle, bundle.pairs(), FEW);
    assertEquals("measuring sums", new Unfinished(app).left()); // as the next process reads it
    RunHolder before = app.runs();
    app.onCreate();
    MainActivity activity = Robolectric.buildActivity(MainActivity.class).setup().get();
    assertTrue(Screen.text(activity), Screen.text(activity).contains("ended while it was measuring sums"));
    activity = Robolectric.buildActivity(MainActivity.class).setup().get();
    assertFalse(Screen.text(activity).contains("ended while"));
    assertNull(new Unfinished(app).left());
    fixture.letGo();
    fixture.await(() -> before.run().ending() != null);
  }

  @Test
  public void whatHasEndedIsForgotten() throws Exception {
    Bundle bundle = Library.open(app, AppFixture.KEY);
    app.runs().start("r1", AppFixture.KEY, bundle, bundle.pairs().subList(0, 1), FEW);
    assertNotNull(new Unfinished(app).left());
    fixture.awaitEnding();
    assertNull(new Unfinished(app).left());
  }

  @Test
  public void anErrorWhileAddingIsALine() throws Exception {
    fixture.describe(
        (folder, files, range) -> {
          throw new OutOfMemoryError("Failed to allocate a 99 byte allocation");
        });
    File picked = new File(app.getCacheDir(), "a.tflite");
    Files.write(picked.toPath(), "....TFL3....".getBytes("UTF-8"));
    app.additions().add(List.of(Uri.fromFile(picked)), new InputRange(0, 1), List.of());
    fixture.await(() -> !app.additions().isBusy());
    assertEquals(
        "Nothing was added: the runtime of this app does not load a.tflite.\nout of memory",
        app.additions().takeMessage());
    assertNull(new Unfinished(app).left());
  }

  @Test
  public void anErrorWhileClassifyingIsALine() throws Exception {
    fixture.phone.failures.put(FakePhone.INT8, new IllegalStateException());
    Bundle bundle = Library.open(app, AppFixture.KEY);
    PairClassifier classifier = new PairClassifier(app, app.phone, bundle, AppFixture.KEY, bundle.pair("int8"));
    PairClassifier.Comparison[] both = new PairClassifier.Comparison[1];
    new Thread(() -> both[0] = classifier.classify(bundle.images().get(0))).start();
    fixture.await(() -> both[0] != null);
    assertNotNull(both[0].original.result);
    assertNull(both[0].mobile.result);
    assertTrue(both[0].mobile.problem, both[0].mobile.problem.contains("java.lang.IllegalStateException"));
    assertNull(new Unfinished(app).left());
  }
}
