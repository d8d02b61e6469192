package org.hsvit.benchmark.report;

import java.io.File;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Task;
import org.hsvit.benchmark.measure.Agreement;
import org.hsvit.benchmark.measure.KindTime;
import org.hsvit.benchmark.measure.ModelMemory;
import org.hsvit.benchmark.measure.ModelResult;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Ratio;
import org.hsvit.benchmark.measure.ReferenceCheck;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.measure.State;
import org.hsvit.benchmark.measure.Summary;
import org.hsvit.benchmark.measure.SustainedTime;
import org.hsvit.benchmark.measure.ThreadTime;
import org.json.JSONArray;
import org.json.JSONObject;

/** Writes reports in the format of {@code measuring/benchmark.schema.json}. */
public final class ReportWriter {
  private static final int SCHEMA_VERSION = 2;
  private static final String TOOL = "android_demo";

  private ReportWriter() {}

  /**
   * Writes a report. The file is complete at any time: a temporary file is written and then renamed.
   *
   * @throws IOException there is no room, or the folder cannot be written to
   */
  public static void write(Report report, File file) throws IOException {
    WholeFile.write(file, Json.text(toJson(report)));
  }

  /**
   * The report as JSON.
   *
   * @throws IllegalArgumentException there is no finished pair
   */
  public static JSONObject toJson(Report report) {
    if (report.results.isEmpty()) {
      throw new IllegalArgumentException("a report needs at least one finished pair");
    }
    JSONArray models = new JSONArray();
    JSONArray pairs = new JSONArray();
    List<String> names = report.names();
    for (int i = 0; i < report.results.size(); i++) {
      PairResult result = report.results.get(i);
      String original = names.get(2 * i);
      String mobile = names.get(2 * i + 1);
      models.put(model(original, "original", result.original, result.memoryOfOriginal, report.settings));
      models.put(model(mobile, "mobile", result.mobile, result.memoryOfMobile, report.settings));
      pairs.put(pair(original, mobile, result, report.bundle.task()));
    }
    JSONArray warnings = new JSONArray();
    for (Warning warning : report.warnings()) {
      warnings.put(
          Json.object("code", warning.code, "model", warning.model, "message", warning.message));
    }
    return Json.object(
        "schema_version", SCHEMA_VERSION,
        "task", JsonParts.task(report.bundle.task()),
        "tool", Json.object("name", TOOL, "version", report.device.appVersion),
        "settings", settings(report),
        "device", device(report),
        "runtime", runtime(report.device),
        "models", models,
        "pairs", pairs,
        "warnings", warnings);
  }

  private static JSONObject settings(Report report) {
    Settings settings = report.settings;
    int samples = report.bundle.images().size();
    return Json.object(
        "blocks", settings.blocks,
        "runs", settings.runs,
        "min_block_s", settings.blockMs / 1000.0,
        "warmup", null,
        "warmup_s", settings.warmupMs / 1000.0,
        "warmup_until_steady", true,
        "limit_s", settings.limitS,
        "cooldown_s", settings.cooldownMs / 1000.0,
        "cool_s", settings.coolS,
        "sustained_s", settings.sustainedS,
        "threads", settings.threads,
        "cores", settings.cores.isEmpty() ? null : settings.cores,
        "xnnpack", settings.xnnpack,
        "fp16", settings.fp16,
        "data",
            samples == 0
                ? null
                : Json.object("name", report.bundle.name(), "split", "bundled", "samples", samples));
  }

  private static JSONObject device(Report report) {
    Device device = report.device;
    List<PairResult> results = report.results;
    JSONObject cpu =
        Json.object(
            "name", device.cpu,
            "architecture", device.architecture,
            "logical_cores", device.cores,
            "features", device.features,
            "clusters", clusters(device));
    JSONObject os =
        Json.object("name", "Android", "version", device.osVersion, "api_level", device.apiLevel);
    return Json.object(
        "name", device.name,
        "cpu", cpu,
        "os", os,
        "memory_bytes", device.memoryBytes,
        "before", state(results.get(0).before),
        "after", state(results.get(results.size() - 1).after),
        "other_load_cores", null);
  }

  private static List<JSONObject> clusters(Device device) {
    if (device.clusters == null) {
      return null;
    }
    List<JSONObject> clusters = new ArrayList<>();
    for (Cluster cluster : device.clusters) {
      clusters.add(
          Json.object(
              "cores", cluster.cores, "max_mhz", cluster.maxMegahertz, "capacity", cluster.capacity));
    }
    return clusters;
  }

  private static List<JSONObject> states(List<State> states) {
    List<JSONObject> objects = new ArrayList<>();
    states.forEach(state -> objects.add(state(state)));
    return objects;
  }

  private static List<JSONObject> kinds(List<KindTime> times) {
    if (times == null) {
      return null;
    }
    List<JSONObject> objects = new ArrayList<>();
    for (KindTime time : times) {
      objects.add(Json.object("kind", time.kind, "files", time.files, "p50_ms", time.p50));
    }
    return objects;
  }

  private static List<JSONObject> threads(List<ThreadTime> times) {
    if (times == null) {
      return null;
    }
    List<JSONObject> objects = new ArrayList<>();
    for (ThreadTime time : times) {
      objects.add(
          Json.object(
              "threads", time.threads,
              "runs", time.runs,
              "p50_ms", time.p50,
              "busy_cores", time.busyCores));
    }
    return objects;
  }

  private static List<JSONObject> sustained(List<SustainedTime> times) {
    if (times == null) {
      return null;
    }
    List<JSONObject> objects = new ArrayList<>();
    for (SustainedTime time : times) {
      objects.add(
          Json.object(
              "at_s", time.seconds, "runs", time.runs, "p50_ms", time.p50, "state", state(time.state)));
    }
    return objects;
  }

  private static JSONObject state(State state) {
    return Json.object(
        "time", Instant.ofEpochMilli(state.time).truncatedTo(ChronoUnit.SECONDS).toString(),
        "load_average", null,
        "thermal_status", state.thermalStatus,
        "thermal_headroom", state.thermalHeadroom,
        "battery_percent", state.batteryPercent,
        "battery_celsius", state.batteryCelsius,
        "charging", state.charging,
        "power_save", state.powerSave);
  }

  private static JSONObject runtime(Device device) {
    return Json.object(
        "language", device.language,
        "packages", new JSONObject(device.packages),
        "debug_build", device.debugBuild);
  }

  private static JSONObject model(
      String name, String role, ModelResult result, ModelMemory memory, Settings settings) {
    ModelFile file = result.model;
    return Json.object(
        "name", name,
        "role", role,
        "bytes", file.bytes,
        "sha256", file.sha256,
        "runtime", Json.object("name", result.runtimeName, "version", result.runtimeVersion),
        "threads",
            Json.object("requested", settings.threads, "used", null, "busy_cores", result.busyCores),
        "accelerator", accelerator(result),
        "inputs", List.of(JsonParts.tensor(file.input)),
        "outputs", JsonParts.tensors(file.outputs),
        "input_range", JsonParts.range(file.range),
        "init_ms", result.initMs,
        "first_inference_ms", result.firstInferenceMs,
        "warmup_mean_ms", result.warmupMeanMs,
        "blocks_ms", result.blocksMs,
        "latency_ms", latency(result.latency),
        "ops", kinds(result.extra.kinds),
        "thread_sweep", threads(result.extra.threads),
        "sustained", sustained(result.extra.sustained),
        "memory", memory == null ? null : memory(memory),
        "metrics", new JSONObject(result.metrics),
        "reference", result.reference == null ? null : reference(result.reference));
  }

  private static JSONObject accelerator(ModelResult result) {
    Delegation taken = result.delegation;
    return Json.object(
        "requested", result.asked.toString(),
        "used", result.used == null ? null : result.used.toString(),
        "delegate", result.delegate,
        "partitions", taken == null ? null : taken.partitions,
        "nodes_delegated", taken == null ? null : taken.nodes,
        "nodes_total", taken == null ? null : taken.total,
        "nodes_known_from", taken == null ? null : result.delegationFromBundle ? "bundle" : "log",
        "cpu_p50_ms", result.extra.cpuMs);
  }

  private static JSONObject memory(ModelMemory memory) {
    return Json.object(
        "init_bytes", memory.loaded, "overall_bytes", memory.run, "peak_bytes", memory.peak);
  }

  private static JSONObject latency(Summary summary) {
    return Json.object(
        "count", summary.count,
        "p5", summary.p5,
        "p50", summary.p50,
        "p90", summary.p90,
        "p95", summary.p95,
        "p99", summary.p99,
        "min", summary.min,
        "mean", summary.mean,
        "max", summary.max,
        "std", summary.std);
  }

  private static JSONObject reference(ReferenceCheck check) {
    return Json.object(
        "right", check.isRight(),
        "samples", check.samples,
        "wrong_samples", check.wrongSamples,
        "max_abs_diff", check.maxAbsDiff,
        "limit", check.limit,
        "runtime", check.runtime);
  }

  private static JSONObject pair(String original, String mobile, PairResult result, Task task) {
    Ratio ratio = result.ratio;
    return Json.object(
        "original", original,
        "mobile", mobile,
        "ratio",
            Json.object(
                "of", "median",
                "value", ratio.value,
                "low", ratio.low,
                "high", ratio.high,
                "confidence", ratio.confidence),
        "agreement", result.agreement == null ? null : agreement(result.agreement, task),
        "cores", result.cores,
        "cooled_s", result.cooledS,
        "before", state(result.before),
        "during", states(result.during),
        "after", state(result.after));
  }

  private static JSONObject agreement(Agreement agreement, Task task) {
    Map<String, Object> numbers = new LinkedHashMap<>();
    numbers.put("samples", agreement.samples);
    numbers.put("max_abs_diff", agreement.maxAbsDiff);
    numbers.put("cosine", agreement.cosine);
    if (agreement.same != null && task.agreement != null) {
      numbers.put(task.agreement.name, agreement.same);
    }
    return new JSONObject(numbers);
  }
}
