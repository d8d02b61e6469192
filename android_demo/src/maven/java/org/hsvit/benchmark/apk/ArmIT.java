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
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/** The outputs of the models in the APK, run as the app does, on emulated ARM CPUs, are correct. */
@RunWith(Parameterized.class)
public final class ArmIT {
  /** More of them are left out, as an emulated inference may take seconds. */
  private static final int IMAGES = Integer.getInteger("emulated.images");

  /** Larger models are left out, and the build says so. */
  private static final long LARGEST = Long.getLong("emulated.megabytes") * 1_000_000;

  @Parameters(name = "{0}")
  public static Abi[] abis() {
    return Abi.values();
  }

  @Parameter public Abi abi;

  private Apk apk;
  private ArmLibrary library;

  @Before
  public void open() throws Exception {
    apk = new Apk(System.getProperty("apk"));
    library = new ArmLibrary(abi, apk.entry("lib/" + abi.folder + "/libtensorflowlite_jni.so"));
  }

  @After
  public void close() throws Exception {
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
        fail("on " + abi + " " + error.getMessage());
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
          fail("on " + abi + " " + error.getMessage());
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
                "note: %s was NOT run by the ARM libraries: its %d MB would take long, -Demulated.megabytes=%d does it%n",
                model.file,
                model.bytes / 1_000_000,
                model.bytes / 1_000_000 + 1));
      }
    }
    Files.writeString(Path.of(System.getProperty("emulation.notes")), notes);
  }

  private void check(ModelFile model, float[] right, int image, float[] row) {
    assertEquals(model.file, right.length, row.length);
    for (Part part : model.parts) {
      Double limit = model.reference.limits[model.parts.indexOf(part)];
      for (int i = part.start; limit != null && i < part.end; i++) {
        if (!(Math.abs((double) right[i] - row[i]) <= limit)) {
          fail(
              String.format(
                  Locale.ROOT,
                  "%s gives wrong outputs on %s for image %d: %s %s; correct is %s within %s",
                  model.file,
                  abi,
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
