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
            (bundle, key) -> new RemoteMeasurer(app, bundle, key),
            phone.runners,
            phone.decoder,
            phone.machine,
            phone.describer,
            phone::device);
  }

  /** Waits for the process to have begun, and ends it as Android tells it. */
  private void crash() throws Exception {
    fixture.await(() -> fixture.isHeld());
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
                ended = app.phone.measurers.of(bundle, AppFixture.KEY).measure(pair, FEW, 60_000, listener);
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
    assertEquals(List.of(), shadow.getBoundServiceConnections());
    assertFalse(Arrays.asList(app.getCacheDir().list()).contains("result.bin"));
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
    assertEquals("the process that measures does not start", ((Exception) ended).getMessage());
  }

  @Test
  public void aCrashEndsOnePairAndTheRunGoesOn() throws Exception {
    fixture.hold(FakePhone.INT8);
    Bundle bundle = Library.open(app, AppFixture.KEY);
    app.runs().start("r1", AppFixture.KEY, bundle, bundle.pairs(), FEW);
    crash();
    Run.Ending ending = fixture.awaitEnding();
    fixture.letGo();
    assertEquals(Status.FAILED, ending.status);
    assertEquals(1, ending.measured);
    String text = new String(Files.readAllBytes(ending.file.toPath()), "UTF-8");
    JSONArray warnings = new JSONObject(text).getJSONArray("warnings");
    assertEquals("failed", warnings.getJSONObject(0).getString("code"));
    assertEquals(
        "pair int8 was not measured: the process that measures crashed while loading int8.tflite",
        warnings.getJSONObject(0).getString("message"));
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
    Phone phone = app.phone;
    Phone.Describer failing =
        (folder, files, range) -> {
          throw new OutOfMemoryError("Failed to allocate a 99 byte allocation");
        };
    app.phone =
        new Phone(phone.measurers, phone.runners, phone.decoder, phone.machine, failing, phone::device);
    File picked = new File(app.getCacheDir(), "a.tflite");
    Files.write(picked.toPath(), "....TFL3....".getBytes("UTF-8"));
    app.additions().add(List.of(Uri.fromFile(picked)), new InputRange(0, 1), List.of());
    fixture.await(() -> !app.additions().isBusy());
    assertEquals("Nothing was added: the app failed.\nout of memory", app.additions().takeMessage());
    assertNull(new Unfinished(app).left());
  }

  @Test
  public void anErrorWhileClassifyingIsALine() throws Exception {
    fixture.phone.failures.put(FakePhone.INT8, new IllegalStateException());
    Bundle bundle = Library.open(app, AppFixture.KEY);
    PairClassifier classifier = new PairClassifier(app, app.phone, bundle, bundle.pair("int8"));
    PairClassifier.Comparison both = classifier.classify(bundle.images().get(0));
    assertNotNull(both.original.result);
    assertNull(both.mobile.result);
    assertTrue(both.mobile.problem, both.mobile.problem.contains("java.lang.IllegalStateException"));
    assertNull(new Unfinished(app).left());
  }
}
