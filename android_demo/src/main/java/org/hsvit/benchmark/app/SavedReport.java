package org.hsvit.benchmark.app;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.measure.State;
import org.hsvit.benchmark.report.Warning;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** What the results screen shows of a report file, which may be of a run long ago. Null: not known. */
final class SavedReport {
  private static final int SCHEMA_VERSION = 1;

  /** A measured model. Times are in milliseconds. */
  static final class Model {
    final String name;
    final Long bytes;
    final double p50;
    final double p90;
    final double p99;
    final Double initMs;
    final Double firstInferenceMs;
    final Double accuracy;

    /** Every counted run; empty where the report has none. */
    final double[] samples;

    /** Whether somebody had the right answers. */
    final boolean checked;

    /** Whether it is known to have answered wrongly. */
    final boolean wrong;

    private Model(JSONObject json, List<Warning> warnings) throws JSONException {
      name = json.getString("name");
      bytes = json.isNull("bytes") ? null : json.getLong("bytes");
      JSONObject latency = json.getJSONObject("latency_ms");
      p50 = real(latency, "p50");
      p90 = real(latency, "p90");
      p99 = real(latency, "p99");
      initMs = number(json, "init_ms");
      firstInferenceMs = number(json, "first_inference_ms");
      accuracy = number(json, "accuracy");
      samples = json.isNull("blocks_ms") ? new double[0] : flat(json.getJSONArray("blocks_ms"));
      JSONObject reference = json.optJSONObject("reference");
      checked = reference != null;
      boolean finite = warnings.stream().noneMatch(w -> w.code.equals("not_finite") && name.equals(w.model));
      wrong = !finite || (checked && !reference.getBoolean("right"));
    }

    /** Its file's name without the ending, as people call it. */
    String title() {
      return name.replace(".tflite", "");
    }
  }

  /** An original and a mobile artifact, measured side by side. */
  static final class Compared {
    final Model original;
    final Model mobile;

    /** Mobile's median over the original's, and the ends of its interval. */
    final double ratio;

    final Double low;
    final Double high;
    final double confidence;

    /** Share of images with the same answer, and how many images. */
    final Double agreement;

    final int images;
    final State before;
    final State after;

    private Compared(JSONObject json, JSONArray models, List<Warning> warnings) throws JSONException {
      original = new Model(named(models, json.getString("original")), warnings);
      mobile = new Model(named(models, json.getString("mobile")), warnings);
      JSONObject interval = json.getJSONObject("ratio");
      ratio = real(interval, "value");
      low = number(interval, "low");
      high = number(interval, "high");
      confidence = real(interval, "confidence");
      JSONObject alike = json.optJSONObject("agreement");
      agreement = alike == null ? null : number(alike, "top1_agreement");
      images = alike == null ? 0 : alike.getInt("images");
      before = state(json.optJSONObject("before"));
      after = state(json.optJSONObject("after"));
    }
  }

  /** What the models were tried on; null without images. */
  final String data;

  final String device;
  final String osVersion;

  /** What was asked to run the models, such as {@code cpu}. */
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
      throw new JSONException("schema_version is " + json.getInt("schema_version"));
    }
    JSONObject settings = json.getJSONObject("settings");
    JSONObject images = settings.optJSONObject("data");
    data = images == null ? null : images.getString("name");
    threads = settings.getInt("threads");
    blocks = settings.getInt("blocks");
    runs = settings.getInt("runs");
    JSONObject first = json.getJSONArray("models").getJSONObject(0);
    accelerator = text(first.getJSONObject("accelerator"), "requested");
    JSONObject phone = json.getJSONObject("device");
    device = text(phone, "name");
    osVersion = text(phone.getJSONObject("os"), "version");
    for (JSONObject warning : objects(json.getJSONArray("warnings"))) {
      warnings.add(
          new Warning(warning.getString("code"), text(warning, "model"), warning.getString("message")));
    }
    for (JSONObject pair : objects(json.getJSONArray("pairs"))) {
      pairs.add(new Compared(pair, json.getJSONArray("models"), warnings));
    }
  }

  private static State state(JSONObject json) throws JSONException {
    if (json == null) {
      return new State(0, null, null, null, null, null);
    }
    return new State(
        0,
        json.isNull("thermal_status") ? null : json.getInt("thermal_status"),
        number(json, "thermal_headroom"),
        number(json, "battery_percent"),
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

  /** Android's parser lets some NaN and infinity pass, which no report holds. */
  private static double real(double value) throws JSONException {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      throw new JSONException("holds " + value);
    }
    return value;
  }

  private static String text(JSONObject json, String name) throws JSONException {
    return json.isNull(name) ? null : json.getString(name);
  }
}
