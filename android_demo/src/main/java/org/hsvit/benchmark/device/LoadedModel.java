package org.hsvit.benchmark.device;

import android.os.Build;
import java.io.IOException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.Delegation;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Settings;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.ExecutionPlan;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.InterpreterApi;
import org.tensorflow.lite.nnapi.NnApiDelegate;

/** A {@code .tflite} file in the interpreter. Every error of the runtime becomes one clear message. */
final class LoadedModel implements AutoCloseable {
  /** Starts interpreters: {@code Interpreter::new}, but for tests. */
  interface Engine {
    InterpreterApi start(ByteBuffer model, Interpreter.Options options);

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
  private final NnApiDelegate nnApi;
  private final InterpreterApi interpreter;
  private final Engine engine;

  private LoadedModel(String file, NnApiDelegate nnApi, InterpreterApi interpreter, Engine engine) {
    this.file = file;
    this.engine = engine;
    this.nnApi = nnApi;
    this.interpreter = interpreter;
  }

  /**
   * Reads a file, builds its graph and allocates its memory.
   *
   * @throws ModelException it cannot be read, or the runtime refuses it
   */
  static LoadedModel load(String file, BundleSource source, Settings settings, Engine engine)
      throws ModelException {
    NnApiDelegate nnApi = null;
    try {
      Interpreter.Options options = new Interpreter.Options();
      options.setNumThreads(settings.threads).setUseXNNPACK(true);
      if (settings.accelerator == Accelerator.NPU) {
        nnApi = nnApi(file);
        options.addDelegate(nnApi);
      }
      return new LoadedModel(file, nnApi, engine.start(source.map(file), options), engine);
    } catch (IOException error) {
      throw new ModelException(file, "cannot read " + file + ": " + error.getMessage(), error);
    } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
      if (nnApi != null) {
        nnApi.close();
      }
      throw refused(file, "does not load", error);
    }
  }

  private static NnApiDelegate nnApi(String file) throws ModelException {
    if (Build.VERSION.SDK_INT < 27) {
      throw new ModelException(file, "this Android has no NNAPI: it came with Android 8.1");
    }
    return new NnApiDelegate(new NnApiDelegate.Options().setUseNnapiCpu(false));
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

  /** How much of it the delegate runs, if it was loaded last; null where that is not known. */
  Delegation delegation() {
    int planLength = engine.planLength(interpreter);
    return RuntimeLog.delegation(engine::log, nnApi == null ? "XNNPack" : "Nnapi", planLength);
  }

  void run(ByteBuffer input, ByteBuffer[] outputs) throws ModelException {
    Map<Integer, Object> places = new HashMap<>();
    for (int i = 0; i < outputs.length; i++) {
      ((Buffer) outputs[i]).rewind(); // ByteBuffer overrides it only since API 28
      places.put(i, outputs[i]);
    }
    try {
      interpreter.runForMultipleInputsOutputs(new Object[] {input}, places);
    } catch (RuntimeException error) {
      throw refused(file, "fails", error);
    }
  }

  @Override
  public void close() {
    interpreter.close();
    if (nnApi != null) {
      nnApi.close();
    }
  }
}
