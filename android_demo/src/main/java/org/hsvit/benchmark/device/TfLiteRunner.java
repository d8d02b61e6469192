package org.hsvit.benchmark.device;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.Decoding;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Runner;
import org.hsvit.benchmark.measure.Settings;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.TensorFlowLite;

/** A model in TensorFlow Lite's interpreter. {@code TfLiteRunner::open} is a {@code RunnerFactory}. */
public final class TfLiteRunner implements Runner {
  static final String NAME = "TFLite Interpreter";

  private final ModelFile model;
  private final LoadedModel loaded;
  private final Settings settings;
  private final double initMs;
  private final Delegation delegation;
  private final ByteBuffer[] outputs;

  private TfLiteRunner(ModelFile model, LoadedModel loaded, Settings settings, double initMs, int logged) {
    this.model = model;
    this.loaded = loaded;
    this.settings = settings;
    this.initMs = initMs;
    this.delegation = loaded.delegation(logged);
    this.outputs = new ByteBuffer[model.outputs.size()];
    for (int i = 0; i < outputs.length; i++) {
      Tensor output = model.outputs.get(i);
      outputs[i] = ByteBuffer.allocateDirect(output.type.bytes * output.elements());
      outputs[i].order(ByteOrder.nativeOrder());
    }
  }

  /**
   * Loads a model, see {@link org.hsvit.benchmark.measure.RunnerFactory#open}. It is loaded twice and the
   * second time is measured, as the first load of a process also starts the runtime.
   */
  public static Runner open(ModelFile model, BundleSource source, Settings settings)
      throws ModelException {
    return model.isCut()
        ? CutRunner.open(model, source, settings, Interpreter::new)
        : open(model, source, settings, Interpreter::new);
  }

  static TfLiteRunner open(
      ModelFile model, BundleSource source, Settings settings, LoadedModel.Engine engine)
      throws ModelException {
    int logged = RuntimeLog.length(engine::log);
    LoadedModel.load(model.file, source, settings, engine).close();
    long start = System.nanoTime();
    LoadedModel loaded = LoadedModel.load(model.file, source, settings, engine);
    double initMs = (System.nanoTime() - start) / 1e6;
    try {
      check(model.file, "input", loaded.input(), model.input);
      checkOutputs(model, loaded.outputs());
    } catch (ModelException error) {
      loaded.close();
      throw error;
    }
    return new TfLiteRunner(model, loaded, settings, initMs, logged);
  }

  private static void checkOutputs(ModelFile model, List<Tensor> found) throws ModelException {
    if (found.size() != model.outputs.size()) {
      throw new ModelException(
          model.file,
          model.file + " has " + found.size() + " outputs, bundle.json says " + model.outputs.size());
    }
    for (int i = 0; i < found.size(); i++) {
      check(model.file, "output", found.get(i), model.outputs.get(i));
    }
  }

  private static void check(String file, String what, Tensor found, Tensor expected)
      throws ModelException {
    if (!describe(found).equals(describe(expected))) {
      throw new ModelException(
          file,
          file + " has the " + what + " " + describe(found) + ", bundle.json says " + describe(expected));
    }
  }

  private static String describe(Tensor tensor) {
    String grid =
        tensor.scale == 0 ? "" : " of scale " + tensor.scale + ", zero point " + tensor.zeroPoint;
    return tensor.type + " " + Arrays.toString(tensor.shape) + grid;
  }

  /** The runtime's version, such as 2.16.1; null if this phone cannot load it. */
  static String version() {
    try {
      return TensorFlowLite.runtimeVersion();
    } catch (RuntimeException | LinkageError error) {
      return null;
    }
  }

  @Override
  public double initMs() {
    return initMs;
  }

  @Override
  public String runtimeName() {
    return NAME;
  }

  @Override
  public String runtimeVersion() {
    return version();
  }

  @Override
  public String delegate() {
    switch (settings.accelerator()) {
      case GPU:
        return "GPU delegate";
      case NPU:
        return "NNAPI";
      default:
        return settings.xnnpack ? "XNNPACK" : "none: TFLite's own kernels";
    }
  }

  @Override
  public Delegation delegation() {
    return delegation;
  }

  /** NNAPI's drivers may leave what they took to the CPU, and do not report it. */
  @Override
  public Accelerator used() {
    Accelerator asked = settings.accelerator();
    if (asked == Accelerator.CPU || (delegation != null && delegation.isNone())) {
      return Accelerator.CPU;
    }
    return asked == Accelerator.GPU && delegation != null ? asked : null;
  }

  @Override
  public float[] run(ByteBuffer input) throws ModelException {
    loaded.run(new ByteBuffer[] {input}, outputs);
    return Decoding.decode(outputs, model);
  }

  @Override
  public void close() {
    loaded.close();
  }
}
