package org.hsvit.benchmark.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.bundle.Measure;
import org.hsvit.benchmark.bundle.Task;
import org.hsvit.benchmark.bundle.Tensor;
import org.json.JSONObject;

/** JSON objects that reports and bundles have in common. */
public final class JsonParts {
  private JsonParts() {}

  public static JSONObject task(Task task) {
    return Json.object(
        "name", task.name, "metric", measure(task.metric), "agreement", measure(task.agreement));
  }

  private static JSONObject measure(Measure measure) {
    return measure == null
        ? null
        : Json.object(
            "name", measure.name,
            "title", measure.title,
            "higher_is_better", measure.higherIsBetter,
            "is_share", measure.isShare);
  }

  static JSONObject tensor(Tensor tensor) {
    return Json.object(fields(tensor).toArray());
  }

  public static List<JSONObject> tensors(List<Tensor> tensors) {
    List<JSONObject> objects = new ArrayList<>();
    tensors.forEach(tensor -> objects.add(tensor(tensor)));
    return objects;
  }

  /** An input of a bundle's model. */
  public static JSONObject input(Tensor tensor, InputRange range) {
    List<Object> fields = new ArrayList<>(fields(tensor));
    fields.addAll(List.of("range", range(range)));
    return Json.object(fields.toArray());
  }

  static double[] range(InputRange range) {
    return new double[] {range.low, range.high};
  }

  private static List<Object> fields(Tensor tensor) {
    boolean isQuantized = tensor.scale != 0;
    return Arrays.asList(
        "name", tensor.name,
        "shape", tensor.shape,
        "dtype", tensor.type.toString(),
        "scale", isQuantized ? tensor.scale : null,
        "zero_point", isQuantized ? tensor.zeroPoint : null);
  }
}
