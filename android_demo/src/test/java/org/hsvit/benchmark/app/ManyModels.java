package org.hsvit.benchmark.app;

import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;

/** A report of many models, with names such as those of the demo: some are best, one is slow, one is wrong. */
final class ManyModels {
  private static final String[] NAMES = {
    "calibrated_imagenet_int8", "calibrated_imagenet_int8_weights_of_another_training", "float16", "pruned_int8"
  };
  private static final double[] FACTORS = {0.502, 0.455, 1.25, 0.998};
  private static final double[] ACCURACIES = {0.88, 0.84, 0.9, 0.7};

  private ManyModels() {}

  /** Adds pairs to a report whose first pair is right; one was run on the GPU, too. */
  static JSONObject of(JSONObject report) throws Exception {
    JSONObject copy = new JSONObject(report.toString());
    for (int i = 0; i < NAMES.length; i++) {
      String original = "original.tflite (" + (i + 3) + ")"; // a report has it in every pair, two so far
      add(copy, original, NAMES[i] + ".tflite", 1, FACTORS[i], ACCURACIES[i]);
    }
    add(copy, "original.tflite on GPU", NAMES[0] + ".tflite on GPU", 0.6, 0.8, ACCURACIES[0]);
    return copy;
  }

  private static void add(
      JSONObject report, String original, String mobile, double speed, double factor, double accuracy)
      throws Exception {
    JSONArray models = report.getJSONArray("models");
    JSONObject like = models.getJSONObject(0);
    models.put(model(like, original, speed, 0.9)).put(model(like, mobile, speed * factor, accuracy));
    JSONArray pairs = report.getJSONArray("pairs");
    pairs.put(pair(pairs.getJSONObject(0), original, mobile, factor));
  }

  private static JSONObject model(JSONObject like, String name, double factor, double accuracy)
      throws Exception {
    JSONObject model = new JSONObject(like.toString()).put("name", name).put("bytes", 1_234_567);
    JSONObject latency = model.getJSONObject("latency_ms");
    for (String percentile : List.of("p50", "p90", "p99")) {
      latency.put(percentile, factor * latency.getDouble(percentile));
    }
    String accelerator = name.endsWith("GPU") ? "gpu" : "cpu";
    model.getJSONObject("accelerator").put("requested", accelerator);
    model.getJSONObject("metrics").put("accuracy", accuracy);
    return model;
  }

  private static JSONObject pair(JSONObject like, String original, String mobile, double factor) throws Exception {
    JSONObject pair = new JSONObject(like.toString()).put("original", original).put("mobile", mobile);
    JSONObject ratio = pair.getJSONObject("ratio");
    ratio.put("value", factor).put("low", 0.99 * factor).put("high", 1.01 * factor);
    return pair;
  }
}
