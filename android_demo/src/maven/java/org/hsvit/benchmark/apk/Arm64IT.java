package org.hsvit.benchmark.apk;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.Cut;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.bundle.Part;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Preparation;
import org.hsvit.benchmark.measure.Runner;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** The outputs of the models in the APK, run as the app does, on an emulated ARM CPU, are correct. */
public final class Arm64IT {
  /** More of them are left out, as an emulated inference may take seconds. */
  private static final int IMAGES = Integer.getInteger("emulated.images");

  /** Larger models are left out, and the build says so. */
  private static final long LARGEST = Long.getLong("emulated.megabytes") * 1_000_000;

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
    Collection<ModelFile> models = models(bundle);
    writeNotes(models);
    models.removeIf(model -> model.bytes > LARGEST);
    for (ModelFile model : models) {
      Contents.check(model, apk);
      float[][] right = model.reference.read(apk);
      try (Runner runner = library.open(model, apk)) {
        assertTrue(runner.runtimeVersion(), runner.runtimeVersion().startsWith(bundle.runtime() + "."));
        for (int i = 0; i < Math.min(IMAGES, bundle.images().size()); i++) {
          var picture = apk.picture(bundle.images().get(i).file);
          check(model, right[i], i, runner.run(Preparation.prepare(picture, model)));
        }
      } catch (ModelException error) {
        fail("on ARM " + error.getMessage());
      }
    }
  }

  /** What they compute is not known, only that they run. */
  @Test
  public void allCutsOfModelsRun() throws Exception {
    Collection<ModelFile> models = models(Bundle.read(apk));
    models.removeIf(model -> model.bytes > LARGEST);
    for (ModelFile model : models) {
      for (Cut cut : model.cuts) {
        Contents.check(cut.model, apk);
        try (Runner runner = library.open(cut.model, apk)) {
          runner.run(null);
        } catch (ModelException error) {
          fail("on ARM " + error.getMessage());
        }
      }
    }
  }

  /** One line for each model that is not run. */
  private static void writeNotes(Collection<ModelFile> models) throws IOException {
    StringBuilder notes = new StringBuilder();
    for (ModelFile model : models) {
      if (model.bytes > LARGEST) {
        notes.append(
            String.format(
                Locale.ROOT,
                "note: %s was NOT run by the ARM library: its %d MB would take long, -Demulated.megabytes=%d does it%n",
                model.file,
                model.bytes / 1_000_000,
                model.bytes / 1_000_000 + 1));
      }
    }
    Files.writeString(Path.of(System.getProperty("emulation.notes")), notes);
  }

  private static void check(ModelFile model, float[] right, int image, float[] row) {
    assertEquals(model.file, right.length, row.length);
    for (Part part : model.parts) {
      Double limit = model.reference.limits[model.parts.indexOf(part)];
      for (int i = part.start; limit != null && i < part.end; i++) {
        if (!(Math.abs((double) right[i] - row[i]) <= limit)) {
          fail(
              String.format(
                  Locale.ROOT,
                  "%s gives wrong outputs on ARM for image %d: %s %s; correct is %s within %s",
                  model.file,
                  image,
                  part.name,
                  Arrays.toString(Arrays.copyOfRange(row, part.start, part.end)),
                  Arrays.toString(Arrays.copyOfRange(right, part.start, part.end)),
                  limit));
        }
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
