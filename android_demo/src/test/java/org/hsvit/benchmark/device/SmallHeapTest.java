package org.hsvit.benchmark.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.measure.Benchmark;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Picture;
import org.hsvit.benchmark.measure.PictureDecoder;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Json;
import org.hsvit.benchmark.report.WholeFile;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/**
 * A model of 350 MB and a thousand images, in a process whose heap is 192 MB, as on phones: pom.xml starts it.
 * Neither fits.
 */
public class SmallHeapTest {
  private static final String FILE = "large.tflite";
  private static final long MODEL = 350_000_000;
  private static final int IMAGES = 1000;
  private static final int SIDE = 224;

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final FakePhone phone = new FakePhone();
  private final FakeInterpreter interpreter = new FakeInterpreter();

  @Before
  public void writeModel() throws Exception {
    assertTrue("" + Runtime.getRuntime().maxMemory(), Runtime.getRuntime().maxMemory() < 200 << 20);
    interpreter.inputShape = new int[] {1, SIDE, SIDE, 3};
    try (RandomAccessFile model = new RandomAccessFile(new File(folder.getRoot(), FILE), "rw")) {
      model.setLength(MODEL); // zeros that take no room on the disk
    }
  }

  /** Shapes and checksum of the model come from the app itself; the images are added here. */
  private Bundle bundle() throws Exception {
    AddedModels.describe(folder.getRoot(), List.of(FILE), new InputRange(0, 255), interpreter);
    File file = new File(folder.getRoot(), "bundle.json");
    JSONObject described = new JSONObject(new String(Files.readAllBytes(file.toPath()), "UTF-8"));
    List<JSONObject> images = new ArrayList<>();
    for (int i = 0; i < IMAGES; i++) {
      Files.write(new File(folder.getRoot(), i + ".png").toPath(), new byte[] {(byte) i});
      images.add(Json.object("file", i + ".png", "label", null));
    }
    WholeFile.write(file, described.put("images", new JSONArray(images)).toString());
    return Bundle.read(new FolderSource(folder.getRoot()));
  }

  @Test
  public void neitherModelsNorImagesHaveToFit() throws Exception {
    Bundle bundle = bundle();
    assertEquals(MODEL, bundle.model(FILE).bytes);
    RunnerFactory runners = (model, source, settings) -> TfLiteRunner.open(model, source, settings, interpreter);
    PictureDecoder decoder =
        (stream, channels) -> {
          byte[] pixels = new byte[SIDE * SIDE * channels];
          pixels[0] = (byte) stream.read();
          return new Picture(SIDE, SIDE, channels, pixels);
        };
    Settings settings = new Settings.Builder().blocks(2).runs(2).blockMs(0).warmupMs(0).cooldownMs(0).build();
    int[] checked = new int[1];
    Listener counting =
        new Listener() {
          @Override
          public void onProgress(Phase phase, int done, int total) {
            if (phase == Phase.CHECKING) {
              checked[0] = done;
            }
          }

          @Override
          public boolean isCancelled() {
            return false;
          }
        };
    PairResult result =
        new Benchmark(bundle, runners, decoder, phone)
            .measure(bundle.pairs().get(0), settings, 60_000, counting);
    assertEquals(2 * IMAGES, checked[0]);
    assertEquals(IMAGES, result.mobile.samples);
    assertEquals(0, result.agreement.maxAbsDiff, 0);
  }
}
