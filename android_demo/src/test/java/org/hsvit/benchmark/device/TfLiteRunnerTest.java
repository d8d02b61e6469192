package org.hsvit.benchmark.device;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.AcceleratorException;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Preparation;
import org.hsvit.benchmark.measure.Runner;
import org.hsvit.benchmark.measure.Settings;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Tensor;

/** All of the runner but the native library, which a JVM cannot load. */
public class TfLiteRunnerTest {
  private static final Settings FOUR = new Settings.Builder().threads(4).build();

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final FakePhone phone = new FakePhone();
  private final FakeInterpreter interpreter = new FakeInterpreter();
  private Bundle bundle;
  private ModelFile model;

  @Before
  public void readBundle() throws Exception {
    bundle = phone.bundle();
    model = bundle.model(FakePhone.ORIGINAL);
  }

  private String refusal() {
    ModelException error =
        assertThrows(
            ModelException.class, () -> TfLiteRunner.open(model, phone, FOUR, interpreter));
    assertEquals(FakePhone.ORIGINAL, error.file);
    return error.getMessage();
  }

  @Test
  public void everyRunGivesTheOutputOfItsInput() throws Exception {
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, FOUR, interpreter)) {
      for (int i = 0; i < 3; i++) {
        ByteBuffer input =
            Preparation.prepare(phone.decode(phone.open("images/" + i + ".png"), 1), model);
        assertArrayEquals(model.reference.read(phone)[i], runner.run(input), 1e-6f);
      }
      assertTrue(runner.initMs() > 0);
      assertEquals("XNNPACK", runner.delegate());
      assertEquals(Accelerator.CPU, runner.used());
    }
    // The first one started the runtime; the second one counts.
    assertEquals(
        List.of("start 26 4 true", "close", "start 26 4 true", "run", "run", "run", "close"),
        interpreter.log);
  }

  /** As TensorFlow Lite 2.16.1 logs the demo's float32 model, whose plan then has 28 nodes. */
  @Test
  public void theRuntimeLogsWhatItsDelegateTakes() throws Exception {
    interpreter.logged.add("Created TensorFlow Lite XNNPACK delegate for CPU.");
    interpreter.logged.add(replacing(3, 9, "TfLiteXNNPackDelegate"));
    interpreter.logged.add(replacing(72, 86, "TfLiteXNNPackDelegate"));
    interpreter.logged.add(replacing(9, 13, "OtherDelegate"));
    interpreter.planLength = 28;
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, FOUR, interpreter)) {
      Delegation taken = runner.delegation();
      assertEquals(72, taken.nodes);
      assertEquals(86, taken.total);
      assertEquals(14, taken.partitions);
      assertFalse(taken.isWhole());
    }
    interpreter.logged.clear();
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, FOUR, interpreter)) {
      assertNull(runner.delegation());
    }
  }

  /** The GPU takes nodes first; XNNPACK's line then tells how long the plan is. */
  @Test
  public void theGpuRunsWhatItTakesAndTheCpuTheRest() throws Exception {
    Settings gpu = new Settings.Builder().accelerators(List.of(Accelerator.GPU)).fp16(true).build();
    interpreter.logged.add(replacing(80, 86, "TfLiteGpuDelegateV2"));
    interpreter.logged.add(replacing(4, 9, "TfLiteXNNPackDelegate"));
    interpreter.planLength = 7;
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, gpu, interpreter)) {
      assertEquals("GPU delegate", runner.delegate());
      assertEquals(80, runner.delegation().nodes);
      assertEquals(3, runner.delegation().partitions);
      assertEquals(Accelerator.GPU, runner.used());
      assertEquals(1, interpreter.delegates.size());
    }
    List<String> loaded = List.of("gpu true", "start 26 1 true", "close", "close gpu");
    assertEquals(loaded, interpreter.log.subList(0, 4));
    assertEquals(loaded, interpreter.log.subList(4, 8));
    interpreter.logged.remove(1);
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, gpu, interpreter)) {
      assertEquals(1, runner.delegation().partitions); // of a plan of 7 nodes, 6 of which it leaves
    }
    interpreter.logged.set(0, replacing(86, 86, "TfLiteXNNPackDelegate"));
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, gpu, interpreter)) {
      assertTrue(runner.delegation().isNone());
      assertEquals(86, runner.delegation().total);
      assertEquals(Accelerator.CPU, runner.used());
    }
    interpreter.logged.clear();
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, gpu, interpreter)) {
      assertNull(runner.used());
    }
  }

  @Test
  public void aGpuThatDoesNotStartIsTold() {
    Settings gpu = new Settings.Builder().accelerators(List.of(Accelerator.GPU)).build();
    interpreter.gpuProblem = new UnsatisfiedLinkError("no libEGL.so");
    AcceleratorException error =
        assertThrows(
            AcceleratorException.class, () -> TfLiteRunner.open(model, phone, gpu, interpreter));
    assertEquals(Accelerator.GPU, error.accelerator);
    assertEquals("it does not start on this phone: no libEGL.so", error.getMessage());
    interpreter.gpuProblem = null;
    interpreter.refusal = "Internal error: Failed to apply delegate";
    assertThrows(ModelException.class, () -> TfLiteRunner.open(model, phone, gpu, interpreter));
    assertEquals(List.of("gpu false", "close gpu"), interpreter.log);
  }

  /** It takes any tensors, here two of other shapes than the bundle's pictures. */
  @Test
  public void aCutRunsOnZeros() throws Exception {
    phone.cut();
    ModelFile cut = phone.bundle().model(FakePhone.INT8).cuts.get(0).model;
    assertTrue(cut.isCut());
    interpreter.inputs = 2;
    interpreter.outputs = 2;
    interpreter.inputShape = new int[] {4, 4};
    try (Runner runner = CutRunner.open(cut, phone, FOUR, interpreter)) {
      assertEquals(0, runner.run(ByteBuffer.allocateDirect(1)).length);
      runner.run(ByteBuffer.allocateDirect(1));
    }
    assertEquals(List.of("start 5 4 true", "run", "run", "close"), interpreter.log);
  }

  @Test
  public void theRuntimesOwnKernelsCanBeAskedFor() throws Exception {
    Settings plain = new Settings.Builder().xnnpack(false).build();
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, plain, interpreter)) {
      assertEquals("none: TFLite's own kernels", runner.delegate());
      assertNull(runner.delegation());
    }
    assertEquals("start 26 1 false", interpreter.log.get(0));
  }

  private static String replacing(int nodes, int total, String delegate) {
    return "Replacing " + nodes + " out of " + total + " node(s) with delegate (" + delegate
        + ") node, yielding 27 partitions for the whole graph.";
  }

  @Test
  public void theRuntimesRefusalIsOneClearMessage() {
    interpreter.refusal =
        "Internal error: Cannot create interpreter: Didn't find op for builtin opcode "
            + "'FULLY_CONNECTED' version '12'. An older version of this builtin might be supported.\n";
    assertEquals(
        "original.tflite does not load in TFLite: Cannot create interpreter: Didn't find op for "
            + "builtin opcode 'FULLY_CONNECTED' version '12'. An older version of this builtin "
            + "might be supported.",
        refusal());
  }

  @Test
  public void aFailingRunIsOneClearMessage() throws Exception {
    try (TfLiteRunner runner = TfLiteRunner.open(model, phone, FOUR, interpreter)) {
      interpreter.failure = "Internal error: Failed to run on the given Interpreter";
      ModelException error =
          assertThrows(
              ModelException.class, () -> runner.run(ByteBuffer.allocateDirect(64)));
      assertEquals(
          "original.tflite fails in TFLite: Failed to run on the given Interpreter",
          error.getMessage());
    }
  }

  @Test
  public void tensorsThatAreNotThoseOfTheBundleAreRefused() {
    interpreter.outputShape = new int[] {1, 4};
    assertEquals(
        "original.tflite has the output float32 [1, 4], bundle.json says float32 [1, 3]", refusal());
    interpreter.inputShape = new int[] {1, 8, 8, 1};
    assertEquals(
        "original.tflite has the input float32 [1, 8, 8, 1], bundle.json says float32 [1, 4, 4, 1]",
        refusal());
    interpreter.inputShape = new int[] {1, 4, 4, 1};
    interpreter.inputType = DataType.INT8;
    interpreter.inputGrid = new Tensor.QuantizationParams(0.5f, -3);
    assertEquals(
        "original.tflite has the input int8 [1, 4, 4, 1] of scale 0.5, zero point -3, "
            + "bundle.json says float32 [1, 4, 4, 1]",
        refusal());
    interpreter.inputType = DataType.INT64;
    assertEquals("original.tflite has an input of int64, which this app does not support", refusal());
    interpreter.inputs = 2;
    assertEquals("original.tflite must have one input, it has 2", refusal());
    assertEquals("close", interpreter.log.get(interpreter.log.size() - 1));
  }

  @Test
  public void aRuntimeThatDoesNotLoadIsOneClearMessage() {
    ModelException error =
        assertThrows(ModelException.class, () -> TfLiteRunner.open(model, phone, FOUR));
    String start = "original.tflite does not load in TFLite: ";
    assertTrue(error.getMessage(), error.getMessage().startsWith(start));
    assertTrue(error.getMessage(), error.getMessage().length() > start.length());
    assertNull(TfLiteRunner.version());
  }

  @Test
  public void aFileThatCannotBeReadIsNamed() {
    phone.files.remove(FakePhone.ORIGINAL);
    assertEquals("cannot read original.tflite: there is no original.tflite", refusal());
    assertTrue(interpreter.log.isEmpty());
  }

  private Bundle add(String... files) throws Exception {
    for (String file : files) {
      Files.write(new File(folder.getRoot(), file).toPath(), file.getBytes("UTF-8"));
    }
    InputRange range = new InputRange(-1, 1);
    return AddedModels.describe(folder.getRoot(), List.of(files), range, interpreter);
  }

  @Test
  public void addedModelsMakeABundleWithoutReference() throws Exception {
    interpreter.inputType = DataType.INT8;
    interpreter.inputGrid = new Tensor.QuantizationParams(0.0125f, -7);
    Bundle added = add("a.tflite", "b.tflite", "c.tflite");
    assertEquals(folder.getRoot().getName(), added.name());
    assertEquals(2, added.pairs().size());
    assertEquals("a.tflite", added.pair("c.tflite").original.file);
    assertEquals("c.tflite", added.pair("c.tflite").mobile.file);
    ModelFile described = added.model("b.tflite");
    assertEquals(4, described.width());
    assertEquals("image", described.input.name);
    assertArrayEquals(new int[] {1, 3}, described.outputs.get(0).shape);
    assertEquals(0.0125f, described.input.scale, 0);
    assertEquals(-7, described.input.zeroPoint);
    assertEquals(-1, described.range.low, 0);
    assertEquals(1, described.range.high, 0);
    assertTrue(added.task().isClassification());
    assertEquals(0, described.metrics.size());
    assertNull(described.reference);
    assertTrue(added.images().isEmpty());
    Contents.check(described, added.source());
  }

  @Test
  public void addedModelsOfOtherShapesDoNotClassify() throws Exception {
    interpreter.outputShape = new int[] {1, 1};
    assertEquals("tensors", add("a.tflite").task().name);
    interpreter.outputShape = new int[] {1, 4, 4, 3};
    Bundle added = add("a.tflite");
    assertEquals("tensors", added.task().name);
    assertNull(added.task().metric);
    assertEquals(48, added.model("a.tflite").rowSize());
    interpreter.outputs = 2;
    interpreter.outputShape = new int[] {1, 3};
    added = add("a.tflite");
    assertEquals("tensors", added.task().name);
    assertEquals(2, added.model("a.tflite").outputs.size());
    assertNull(added.detection());
  }

  @Test
  public void severalOutputsAreOneRow() throws Exception {
    interpreter.outputs = 2;
    assertEquals("original.tflite has 2 outputs, bundle.json says 1", refusal());
    ModelFile two = add("a.tflite").model("a.tflite");
    try (TfLiteRunner runner =
        TfLiteRunner.open(two, new FolderSource(folder.getRoot()), FOUR, interpreter)) {
      ByteBuffer input = Preparation.prepare(phone.decode(phone.open("images/0.png"), 1), two);
      float[] row = runner.run(input);
      assertEquals(6, row.length);
      assertEquals(row[0] + 10, row[3], 1e-5);
      assertEquals(row[2] + 10, row[5], 1e-5);
      assertArrayEquals(row, runner.run(input), 0);
    }
  }

  @Test
  public void aModelAddedAloneIsPairedWithItself() throws Exception {
    Bundle added = add("a.tflite");
    assertEquals(1, added.pairs().size());
    assertSame(added.pairs().get(0).original, added.pairs().get(0).mobile);
  }

  @Test
  public void modelsThatTakeNoImagesAreNotAdded() {
    interpreter.inputShape = new int[] {1, 10};
    BundleException error = assertThrows(BundleException.class, () -> add("a.tflite"));
    assertTrue(
        error.getMessage(),
        error.getMessage().endsWith(
            "models[0].input.shape is [1,10], it must be [1, height, width, channels], "
                + "with frames behind the 1 of clips"));
    assertFalse(new File(folder.getRoot(), "bundle.json").exists());
    interpreter.refusal = "Internal error: it is no flatbuffer";
    ModelException refused = assertThrows(ModelException.class, () -> add("a.tflite"));
    assertEquals("a.tflite does not load in TFLite: it is no flatbuffer", refused.getMessage());
  }
}
