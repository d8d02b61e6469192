package org.hsvit.benchmark.apk;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Preparation;
import org.hsvit.benchmark.measure.Runner;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** The outputs of the models in the APK, run as the app does, on an emulated ARM CPU, are correct. */
public final class Arm64IT {
  private static final int IMAGES = 3; // an emulated inference takes seconds
  private static final long MOST_BYTES = 8_000_000; // of a model; larger ones take minutes to hours
  private static Apk apk;
  private static Arm64Library library;

  @BeforeClass
  public static void open() throws Exception {
    apk = new Apk(System.getProperty("apk"));
    library = new Arm64Library(apk.entry("lib/arm64-v8a/libtensorflowlite_jni.so"));
  }

  @AfterClass
  public static void close() throws Exception {
    library.close();
    apk.close();
  }

  @Test
  public void outputsOfAllModelsAreThoseOfTheirReference() throws Exception {
    Bundle bundle = Bundle.read(apk);
    StringBuilder skipped = new StringBuilder();
    for (ModelFile model : models(bundle)) {
      Contents.check(model, apk);
      if (model.bytes > MOST_BYTES) {
        String format = "NOT RUN by the ARM library, as emulating it takes long: %s, %d MB%n";
        skipped.append(String.format(Locale.ROOT, format, model.file, model.bytes / 1_000_000));
        continue;
      }
      try (Runner runner = library.open(model, apk)) {
        assertTrue(runner.runtimeVersion(), runner.runtimeVersion().startsWith(bundle.runtime() + "."));
        for (int i = 0; i < Math.min(IMAGES, bundle.images().size()); i++) {
          var picture = apk.picture(bundle.images().get(i).file);
          check(model, i, runner.run(Preparation.prepare(picture, model)));
        }
      } catch (ModelException error) {
        fail("on ARM " + error.getMessage());
      }
    }
    Files.writeString(Path.of(System.getProperty("skipped")), skipped); // make apk prints it
  }

  private static void check(ModelFile model, int image, float[] output) {
    float[] right = model.reference.outputs[image];
    assertEquals(model.file, right.length, output.length);
    for (int i = 0; i < right.length; i++) {
      double difference = Math.abs((double) right[i] - output[i]);
      if (!(difference <= model.reference.maxAbsDiff)) {
        fail(
            String.format(
                Locale.ROOT,
                "%s gives wrong outputs on ARM for image %d: %s; correct is %s within %s",
                model.file,
                image,
                Arrays.toString(output),
                Arrays.toString(right),
                model.reference.maxAbsDiff));
      }
    }
  }

  private static Collection<ModelFile> models(Bundle bundle) {
    Set<ModelFile> models = new LinkedHashSet<>();
    for (Pair pair : bundle.pairs()) {
      models.add(pair.original);
      models.add(pair.mobile);
    }
    return models;
  }
}
