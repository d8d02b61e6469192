package org.hsvit.benchmark.app;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hsvit.benchmark.bundle.Measure;
import org.hsvit.benchmark.bundle.Task;
import org.hsvit.benchmark.measure.State;
import org.hsvit.benchmark.report.Warning;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** The parts of a report file that the results screen shows. Null stands for what is not known. */
final class SavedReport {
  private static final int SCHEMA_VERSION = 2;

  /** A measured model. Times are in milliseconds. */
  static final class Model {
    final String name;
    final Long bytes;
    final double p50;
    final double p90;
    final double p99;
    /** What was asked to run it. */
    final String accelerator;

    final Double initMs;
    final Double firstInferenceMs;

    /** The task's metric. */
    final Double metric;

    /** Latencies of all counted runs; empty where the report has none. */
    final double[] samples;

    /** Kinds of operations in the order of the report, and their times, null where one did not run; empty for none. */
    final Map<String, Double> kinds;

    /** The most memory that it added to its process; null where it was not measured. */
    final Long peakBytes;

    /** Median latency by threads, in points of {threads, milliseconds}; empty where it was not measured. */
    final double[][] threads;

    /** Median latency without a pause, in points of {seconds, milliseconds}; empty where it was not measured. */
    final double[][] sustained;

    /** Whether its outputs were compared with correct ones. */
    final boolean checked;

    /** Whether some of its outputs are known to be wrong. */
    final boolean wrong;

    private Model(JSONObject json, Task task, List<Warning> warnings) throws JSONException {
      name = json.getString("name");
      bytes = json.isNull("bytes") ? null : json.getLong("bytes");
      JSONObject latency = json.getJSONObject("latency_ms");
      p50 = real(latency, "p50");
      p90 = real(latency, "p90");
      p99 = real(latency, "p99");
      accelerator = text(json.getJSONObject("accelerator"), "requested");
      initMs = number(json, "init_ms");
      firstInferenceMs = number(json, "first_inference_ms");
      metric = task.metric == null ? null : number(json.getJSONObject("metrics"), task.metric.name);
      samples = json.isNull("blocks_ms") ? new double[0] : flat(json.getJSONArray("blocks_ms"));
      kinds = kinds(json.optJSONArray("ops"));
      JSONObject memory = json.optJSONObject("memory");
      peakBytes = memory == null || memory.isNull("peak_bytes") ? null : memory.getLong("peak_bytes");
      threads = points(json.optJSONArray("thread_sweep"), "threads");
      sustained = points(json.optJSONArray("sustained"), "at_s");
      JSONObject reference = json.optJSONObject("reference");
      checked = reference != null;
      boolean finite = warnings.stream().noneMatch(w -> w.code.equals("not_finite") && name.equals(w.model));
      wrong = !finite || (checked && !reference.getBoolean("right"));
    }

    /** The name of its file without the suffix; a file that is measured again has a number behind it. */
    String title() {
      return name.replace(".tflite", "");
    }

    /** The name of its file without the suffix, also where it is measured again. */
    String fileTitle() {
      return title().replaceFirst(" \\(\\d+\\)$", "");
    }
  }

  /** An original and a mobile artifact, measured side by side. */
  static final class Compared {
    final Task task;
    final Model original;
    final Model mobile;

    /** Median latency of mobile over that of the original, and its confidence interval. */
    final double ratio;

    final Double low;
    final Double high;
    final double confidence;

    /** The task's agreement of the outputs. */
    final Double agreement;

    /** Largest difference of the outputs; null if they were not compared. */
    final Double maxAbsDiff;

    /** How many samples were compared. */
    final int samples;

    final State before;
    final State after;

    private Compared(JSONObject json, JSONArray models, Task task, List<Warning> warnings)
        throws JSONException {
      this.task = task;
      original = new Model(named(models, json.getString("original")), task, warnings);
      mobile = new Model(named(models, json.getString("mobile")), task, warnings);
      JSONObject interval = json.getJSONObject("ratio");
      ratio = real(interval, "value");
      low = number(interval, "low");
      high = number(interval, "high");
      confidence = real(interval, "confidence");
      JSONObject compared = json.optJSONObject("agreement");
      boolean agrees = compared != null && task.agreement != null;
      agreement = agrees ? number(compared, task.agreement.name) : null;
      maxAbsDiff = compared == null ? null : number(compared, "max_abs_diff");
      samples = compared == null ? 0 : compared.getInt("samples");
      before = state(json.optJSONObject("before"));
      after = state(json.optJSONObject("after"));
    }
  }

  /** The bundle whose images the models were run on; null without images. */
  final String data;

  final String device;
  final String osVersion;

  /** Name and version of what ran the models, such as {@code TFLite Interpreter} and {@code 2.16.1}. */
  final String runtime;

  final String runtimeVersion;

  /** What was asked to run the models, such as {@code cpu} or {@code cpu, gpu}. */
  final String accelerator;

  final int threads;
  final int blocks;
  final int runs;
  final List<Compared> pairs = new ArrayList<>();
  final List<Warning> warnings = new ArrayList<>();

  /**
   * Reads a report.
   *
   * @throws IOException there is no such file, or it is no whole report
   */
  static SavedReport read(File file) throws IOException {
    try {
      return new SavedReport(
          new JSONObject(new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8)));
    } catch (JSONException error) {
      throw new IOException(file.getName() + ": " + error.getMessage(), error);
    }
  }

  private SavedReport(JSONObject json) throws JSONException {
    if (json.getInt("schema_version") != SCHEMA_VERSION) {
      throw new JSONException(
          "its schema_version is "
              + json.getInt("schema_version")
              + ", this app reads "
              + SCHEMA_VERSION);
    }
    JSONObject settings = json.getJSONObject("settings");
    JSONObject samples = settings.optJSONObject("data");
    data = samples == null ? null : samples.getString("name");
    threads = settings.getInt("threads");
    blocks = settings.getInt("blocks");
    runs = settings.getInt("runs");
    accelerator = accelerators(json.getJSONArray("models"));
    JSONObject first = json.getJSONArray("models").getJSONObject(0);
    JSONObject engine = first.getJSONObject("runtime");
    runtime = engine.getString("name");
    runtimeVersion = text(engine, "version");
    JSONObject phone = json.getJSONObject("device");
    device = text(phone, "name");
    osVersion = text(phone.getJSONObject("os"), "version");
    for (JSONObject warning : objects(json.getJSONArray("warnings"))) {
      warnings.add(
          new Warning(warning.getString("code"), text(warning, "model"), warning.getString("message")));
    }
    Task task = task(json.getJSONObject("task"));
    for (JSONObject pair : objects(json.getJSONArray("pairs"))) {
      pairs.add(new Compared(pair, json.getJSONArray("models"), task, warnings));
    }
  }

  /** All that were asked for, in the order of time; null where they are not known. */
  private static String accelerators(JSONArray models) throws JSONException {
    Set<String> asked = new LinkedHashSet<>();
    for (JSONObject model : objects(models)) {
      String one = text(model.getJSONObject("accelerator"), "requested");
      if (one != null) {
        asked.add(one);
      }
    }
    return asked.isEmpty() ? null : String.join(", ", asked);
  }

  private static Task task(JSONObject json) throws JSONException {
    Measure metric = measure(json.optJSONObject("metric"));
    return new Task(json.getString("name"), metric, measure(json.optJSONObject("agreement")));
  }

  private static Measure measure(JSONObject json) throws JSONException {
    return json == null
        ? null
        : new Measure(
            json.getString("name"),
            json.getString("title"),
            json.getBoolean("higher_is_better"),
            json.getBoolean("is_share"));
  }

  private static State state(JSONObject json) throws JSONException {
    if (json == null) {
      return new State(0, null, null, null, null, null, null);
    }
    return new State(
        0,
        json.isNull("thermal_status") ? null : json.getInt("thermal_status"),
        number(json, "thermal_headroom"),
        number(json, "battery_percent"),
        number(json, "battery_celsius"),
        json.isNull("charging") ? null : json.getBoolean("charging"),
        json.isNull("power_save") ? null : json.getBoolean("power_save"));
  }

  private static JSONObject named(JSONArray models, String name) throws JSONException {
    for (JSONObject model : objects(models)) {
      if (name.equals(model.getString("name"))) {
        return model;
      }
    }
    throw new JSONException("a pair names " + name + ", which is no model of the report");
  }

  private static List<JSONObject> objects(JSONArray array) throws JSONException {
    List<JSONObject> objects = new ArrayList<>();
    for (int i = 0; i < array.length(); i++) {
      objects.add(array.getJSONObject(i));
    }
    return objects;
  }

  private static Map<String, Double> kinds(JSONArray ops) throws JSONException {
    Map<String, Double> kinds = new LinkedHashMap<>();
    for (int i = 0; ops != null && i < ops.length(); i++) {
      kinds.put(ops.getJSONObject(i).getString("kind"), number(ops.getJSONObject(i), "p50_ms"));
    }
    return kinds;
  }

  /** Points of a field and the median latency there. */
  private static double[][] points(JSONArray times, String field) throws JSONException {
    double[][] points = new double[times == null ? 0 : times.length()][];
    for (int i = 0; i < points.length; i++) {
      JSONObject time = times.getJSONObject(i);
      points[i] = new double[] {real(time, field), real(time, "p50_ms")};
    }
    return points;
  }

  private static double[] flat(JSONArray rows) throws JSONException {
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < rows.length(); i++) {
      for (int j = 0; j < rows.getJSONArray(i).length(); j++) {
        values.add(real(rows.getJSONArray(i).getDouble(j)));
      }
    }
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static Double number(JSONObject json, String name) throws JSONException {
    return json.isNull(name) ? null : real(json, name);
  }

  private static double real(JSONObject json, String name) throws JSONException {
    return real(json.getDouble(name));
  }

  /** Android's parser accepts some NaN and infinity, which reports do not have. */
  private static double real(double value) throws JSONException {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      throw new JSONException("it has the number " + value);
    }
    return value;
  }

  private static String text(JSONObject json, String name) throws JSONException {
    return json.isNull(name) ? null : json.getString(name);
  }
}
