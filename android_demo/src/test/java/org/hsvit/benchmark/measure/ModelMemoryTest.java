package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Listener.Phase;
import org.junit.Test;

public class ModelMemoryTest {
  private static final int KILO = 1 << 10;
  private static final int MEGA = 1 << 20;

  private final FakePhone phone = new FakePhone();
  private final List<String> measured = new ArrayList<>();
  private final List<Phase> phases = new ArrayList<>();

  private final Listener listener =
      new Listener() {
        @Override
        public void onProgress(Phase phase, int done, int total) {
          phases.add(phase);
        }

        @Override
        public boolean isCancelled() {
          return false;
        }
      };

  private MeasurerWithMemory measurer(Bundle bundle) {
    return new MeasurerWithMemory(
        phone.benchmark(bundle),
        (model, settings, to) -> {
          measured.add(model.file + " " + settings.accelerator());
          return phone.memory(bundle, model, settings);
        },
        phone);
  }

  private static Settings few() {
    return new Settings.Builder().blocks(2).runs(2).build();
  }

  /** A model of 8 MiB is loaded twice at once, keeps one copy, and each of three runs takes 4 KiB more. */
  @Test
  public void memoryIsWhatTheModelAddsToTheProcess() throws Exception {
    Bundle bundle = phone.bundle();
    ModelMemory memory = phone.memory(bundle, bundle.model(FakePhone.ORIGINAL), few());
    assertEquals(8 * MEGA, memory.loaded);
    assertEquals(8 * MEGA + 3 * 4 * KILO, memory.run);
    assertEquals(16 * MEGA, memory.peak);
    assertEquals("close original.tflite", phone.log.get(phone.log.size() - 1));
  }

  @Test
  public void aMachineMayNotTellItsMemory() throws Exception {
    phone.tellsMemory = false;
    Bundle bundle = phone.bundle();
    assertNull(phone.memory(bundle, bundle.model(FakePhone.ORIGINAL), few()));
  }

  @Test
  public void eachModelIsMeasuredOnceOnEachAccelerator() throws Exception {
    Bundle bundle = phone.bundle();
    MeasurerWithMemory measurer = measurer(bundle);
    for (Accelerator accelerator : List.of(Accelerator.CPU, Accelerator.GPU)) {
      for (Pair pair : bundle.pairs()) {
        PairResult result = measurer.measure(pair, few().on(accelerator), 60_000, listener);
        assertEquals(8 * MEGA, result.memoryOfOriginal.loaded);
        assertEquals((pair.name.equals("int8") ? 2 : 8) * MEGA, result.memoryOfMobile.loaded);
      }
    }
    assertEquals(
        List.of(
            "original.tflite cpu", "int8.tflite cpu", "dynamic.tflite cpu",
            "original.tflite gpu", "int8.tflite gpu", "dynamic.tflite gpu"),
        measured);
    assertEquals(List.of(Phase.MEMORY, Phase.MEMORY, Phase.TIMING), phases.subList(0, 3));
  }

  /** The measurement of the pair tells what is wrong with the model. */
  @Test
  public void memoryThatCannotBeMeasuredIsNotKnown() throws Exception {
    Bundle bundle = phone.bundle();
    MeasurerWithMemory measurer =
        new MeasurerWithMemory(
            phone.benchmark(bundle),
            (model, settings, to) -> {
              throw new ModelException(model.file, "its process crashed");
            },
            phone);
    assertNull(measurer.measure(bundle.pair("int8"), few(), 60_000, listener).memoryOfMobile);
  }

  @Test
  public void anAcceleratorThatIsMissingIsTold() throws Exception {
    phone.missing.put(Accelerator.GPU, "there is none");
    Bundle bundle = phone.bundle();
    assertThrows(
        AcceleratorException.class,
        () ->
            measurer(bundle).measure(bundle.pair("int8"), few().on(Accelerator.GPU), 60_000, listener));
  }
}
