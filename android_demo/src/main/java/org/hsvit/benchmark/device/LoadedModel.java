package org.hsvit.benchmark.device;

import android.os.Build;
import java.io.IOException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.AcceleratorException;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Settings;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Delegate;
import org.tensorflow.lite.ExecutionPlan;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.InterpreterApi;
import org.tensorflow.lite.gpu.GpuDelegate;
import org.tensorflow.lite.gpu.GpuDelegateFactory;
import org.tensorflow.lite.nnapi.NnApiDelegate;

/** A {@code .tflite} file in the interpreter. Every error of the runtime becomes one clear message. */
final class LoadedModel implements AutoCloseable {
  /** Starts interpreters: {@code Interpreter::new}, but for tests. */
  interface Engine {
    InterpreterApi start(ByteBuffer model, Interpreter.Options options);

    /** Starts the phone's GPU; throws an exception or a linkage error where that does not work. */
    default Delegate gpu(boolean fp16) {
      return new GpuDelegate(new GpuDelegateFactory.Options().setPrecisionLossAllowed(fp16));
    }

    /** How many nodes run one after the other. */
    default int planLength(InterpreterApi interpreter) {
      return ExecutionPlan.length(interpreter);
    }

    /** What this process has logged. */
    default List<String> log() throws IOException {
      return RuntimeLog.ofThisProcess();
    }
  }

  private final String file;
  private final Accelerator accelerator;

  /** Of an accelerator; null on the CPU. */
  private final Delegate delegate;

  private final InterpreterApi interpreter;
  private final Engine engine;

  private LoadedModel(
      String file, Accelerator accelerator, Delegate delegate, InterpreterApi interpreter, Engine engine) {
    this.file = file;
    this.accelerator = accelerator;
    this.delegate = delegate;
    this.engine = engine;
    this.interpreter = interpreter;
  }

  /**
   * Reads a file, builds its graph and allocates its memory.
   *
   * @throws AcceleratorException the phone has no such accelerator, or it does not start
   * @throws ModelException it cannot be read, or the runtime refuses it
   */
  static LoadedModel load(String file, BundleSource source, Settings settings, Engine engine)
      throws ModelException {
    Accelerator accelerator = settings.accelerator();
    Delegate delegate = delegate(accelerator, settings, engine);
    try {
      Interpreter.Options options = new Interpreter.Options();
      options.setNumThreads(settings.threads).setUseXNNPACK(settings.xnnpack);
      if (settings.fp16) {
        options.setAllowFp16PrecisionForFp32(true);
      }
      if (delegate != null) {
        options.addDelegate(delegate);
      }
      InterpreterApi interpreter = engine.start(source.map(file), options);
      return new LoadedModel(file, accelerator, delegate, interpreter, engine);
    } catch (IOException error) {
      close(delegate);
      throw new ModelException(file, "cannot read " + file + ": " + error.getMessage(), error);
    } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
      close(delegate);
      throw refused(file, "does not load", error);
    }
  }

  private static Delegate delegate(Accelerator accelerator, Settings settings, Engine engine)
      throws AcceleratorException {
    try {
      switch (accelerator) {
        case GPU:
          return engine.gpu(settings.fp16);
        case NPU:
          return nnApi(settings.fp16);
        default:
          return null;
      }
    } catch (RuntimeException | LinkageError error) {
      String message = "it does not start on this phone: " + error.getMessage();
      throw new AcceleratorException(accelerator, message, error);
    }
  }

  private static Delegate nnApi(boolean fp16) throws AcceleratorException {
    if (Build.VERSION.SDK_INT < 27) {
      String message = "this Android has no NNAPI: it came with Android 8.1";
      throw new AcceleratorException(Accelerator.NPU, message, null);
    }
    return new NnApiDelegate(new NnApiDelegate.Options().setUseNnapiCpu(false).setAllowFp16(fp16));
  }

  private static void close(Delegate delegate) {
    if (delegate != null) {
      delegate.close();
    }
  }

  private static ModelException refused(String file, String what, Throwable error) {
    String reason = error.getMessage() == null ? error.toString() : error.getMessage();
    String message = reason.replaceFirst("^Internal error: ", "").trim();
    String version = TfLiteRunner.version();
    String runtime = version == null ? "TFLite" : "TFLite " + version;
    return new ModelException(file, file + " " + what + " in " + runtime + ": " + message, error);
  }

  /** The model's input; there must be exactly one. */
  Tensor input() throws ModelException {
    int count = interpreter.getInputTensorCount();
    if (count != 1) {
      throw new ModelException(file, file + " must have one input, it has " + count);
    }
    return tensor("input", interpreter.getInputTensor(0));
  }

  /** The model's outputs, in the order of the file. */
  List<Tensor> outputs() throws ModelException {
    List<Tensor> outputs = new ArrayList<>();
    for (int i = 0; i < interpreter.getOutputTensorCount(); i++) {
      outputs.add(tensor("output", interpreter.getOutputTensor(i)));
    }
    return outputs;
  }

  private Tensor tensor(String what, org.tensorflow.lite.Tensor tensor) throws ModelException {
    return new Tensor(
        tensor.name(),
        tensor.shape(),
        type(what, tensor.dataType()),
        tensor.quantizationParams().getScale(),
        tensor.quantizationParams().getZeroPoint());
  }

  private Tensor.Type type(String what, DataType type) throws ModelException {
    for (Tensor.Type known : Tensor.Type.values()) {
      if (known.name().equals(type.name())) {
        return known;
      }
    }
    String name = type.name().toLowerCase(Locale.ROOT);
    String message = file + " has an " + what + " of " + name + ", which this app does not support";
    throw new ModelException(file, message);
  }

  /**
   * How much of it the delegate runs, if it was loaded last; null where that is not known.
   *
   * @param before lines that the runtime's log had before
   */
  Delegation delegation(int before) {
    String name = accelerator == Accelerator.CPU ? RuntimeLog.CPU : accelerator == Accelerator.GPU ? "Gpu" : "Nnapi";
    return RuntimeLog.delegation(engine::log, before, name, engine.planLength(interpreter));
  }

  /** Zeros for all inputs. */
  ByteBuffer[] inputBuffers() {
    ByteBuffer[] buffers = new ByteBuffer[interpreter.getInputTensorCount()];
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = buffer(interpreter.getInputTensor(i));
    }
    return buffers;
  }

  /** Room for all outputs. */
  ByteBuffer[] outputBuffers() {
    ByteBuffer[] buffers = new ByteBuffer[interpreter.getOutputTensorCount()];
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = buffer(interpreter.getOutputTensor(i));
    }
    return buffers;
  }

  private static ByteBuffer buffer(org.tensorflow.lite.Tensor tensor) {
    return ByteBuffer.allocateDirect(tensor.numBytes()).order(ByteOrder.nativeOrder());
  }

  void run(ByteBuffer[] inputs, ByteBuffer[] outputs) throws ModelException {
    Map<Integer, Object> places = new HashMap<>();
    for (int i = 0; i < outputs.length; i++) {
      ((Buffer) outputs[i]).rewind(); // ByteBuffer overrides it only since API 28
      places.put(i, outputs[i]);
    }
    try {
      interpreter.runForMultipleInputsOutputs(inputs, places);
    } catch (RuntimeException error) {
      throw refused(file, "fails", error);
    }
  }

  @Override
  public void close() {
    interpreter.close();
    close(delegate);
  }
}
