package org.hsvit.benchmark.device;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Delegate;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.InterpreterApi;
import org.tensorflow.lite.Tensor;

/** Replaces TensorFlow Lite's interpreter: it sums every third number, as models of FakePhone do. */
final class FakeInterpreter implements LoadedModel.Engine {
  int[] inputShape = {1, 4, 4, 1};
  DataType inputType = DataType.FLOAT32;
  Tensor.QuantizationParams inputGrid = new Tensor.QuantizationParams(0, 0);
  int inputs = 1;
  int outputs = 1;
  int[] outputShape = {1, 3};

  /** The runtime's error when it loads a model; null for none. */
  String refusal;

  /** The runtime's error when it runs a model; null for none. */
  String failure;

  /** What the runtime logs when it loads a model, and the nodes of its plan. */
  List<String> logged = new ArrayList<>();

  int planLength = 1;

  /** Why the GPU does not start; null if it does. */
  Error gpuProblem;

  /** The delegates of the model that was loaded last. */
  List<Delegate> delegates = List.of();

  private final List<String> lines = new ArrayList<>();

  /** All calls: start with its threads, run, close. */
  final List<String> log = new ArrayList<>();

  @Override
  public InterpreterApi start(ByteBuffer model, Interpreter.Options options) {
    if (refusal != null) {
      throw new IllegalArgumentException(refusal);
    }
    lines.addAll(logged);
    log.add("start " + model.capacity() + " " + options.getNumThreads() + " " + options.getUseXNNPACK());
    delegates = options.getDelegates();
    return fake(InterpreterApi.class, this::call);
  }

  @Override
  public Delegate gpu(boolean fp16) {
    if (gpuProblem != null) {
      throw gpuProblem;
    }
    log.add("gpu " + fp16);
    return fake(
        Delegate.class,
        (method, arguments) -> {
          log.add(method + " gpu");
          return null;
        });
  }

  @Override
  public int planLength(InterpreterApi interpreter) {
    return planLength;
  }

  @Override
  public List<String> log() {
    return lines;
  }

  private Object call(String method, Object[] arguments) {
    switch (method) {
      case "getInputTensorCount":
        return inputs;
      case "getOutputTensorCount":
        return outputs;
      case "getInputTensor":
        return tensor("image", inputShape, inputType, inputGrid);
      case "getOutputTensor":
        return tensor("logits", outputShape, DataType.FLOAT32, new Tensor.QuantizationParams(0, 0));
      case "runForMultipleInputsOutputs":
        run((ByteBuffer) ((Object[]) arguments[0])[0], (Map<?, ?>) arguments[1]);
        return null;
      case "close":
        log.add("close");
        return null;
      default:
        throw new UnsupportedOperationException(method);
    }
  }

  private void run(ByteBuffer given, Map<?, ?> taken) {
    if (failure != null) {
      throw new IllegalArgumentException(failure);
    }
    float[] sums = new float[3];
    for (int i = 0; i < 16; i++) {
      sums[i % 3] += given.duplicate().order(ByteOrder.nativeOrder()).getFloat(4 * i);
    }
    for (int i = 0; i < outputs; i++) { // each output is ten more than the one before
      ByteBuffer output = (ByteBuffer) taken.get(i);
      for (float sum : sums) {
        output.putFloat(sum + 10 * i);
      }
    }
    log.add("run");
  }

  private static Tensor tensor(String name, int[] shape, DataType type, Tensor.QuantizationParams grid) {
    return fake(
        Tensor.class,
        (method, arguments) -> {
          switch (method) {
            case "name":
              return name;
            case "shape":
              return shape;
            case "dataType":
              return type;
            case "numBytes":
              return 4 * Arrays.stream(shape).reduce(1, (a, b) -> a * b);
            case "quantizationParams":
              return grid;
            default:
              throw new UnsupportedOperationException(method);
          }
        });
  }

  private interface Calls {
    Object answer(String method, Object[] arguments);
  }

  private static <T> T fake(Class<T> type, Calls calls) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> calls.answer(method.getName(), arguments)));
  }
}
