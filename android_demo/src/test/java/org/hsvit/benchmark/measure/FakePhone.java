package org.hsvit.benchmark.measure;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.bundle.Measure;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Task;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.report.Json;
import org.hsvit.benchmark.report.JsonParts;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * A phone without Android: models are arithmetic, its clock is simulated, and all calls are logged.
 *
 * <p>Its bundle has ten gray pictures of 4 x 4 and 3 classes. Each model sums every third value; {@code
 * int8.tflite} rounds the sums, {@code dynamic.tflite} is the one that tests make wrong.
 */
public final class FakePhone implements BundleSource, RunnerFactory, PictureDecoder, Machine {
  public static final String ORIGINAL = "original.tflite";
  public static final String INT8 = "int8.tflite";
  public static final String DYNAMIC = "dynamic.tflite";
  private static final int IMAGES = 10;
  private static final int SIDE = 4;
  private static final int CLASSES = 3;
  private static final double CLOCK_STEP_MS = 10;
  private static final long PROCESS_BYTES = 70 << 20; // before a model is loaded

  /** Contents of the bundle's files. */
  public final Map<String, byte[]> files = new HashMap<>();

  /** Content of bundle.json, which tests change before {@link #bundle()}. */
  public final JSONObject described;

  /** All calls: {@code open FILE}, {@code run FILE}, {@code sleep MS}, {@code close FILE}. */
  public final List<String> log = new ArrayList<>();

  /** The first number of the input of each run. */
  public final List<Float> shown = new ArrayList<>();

  /** Added to the first output of a model on this phone. */
  public final Map<String, Float> offsets = new HashMap<>();

  /** How much of a model the delegate takes on this phone, where it is not all. */
  public final Map<String, Delegation> delegations = new HashMap<>();

  /** Why an accelerator cannot be used on this phone. */
  public final Map<Accelerator, String> missing = new HashMap<>();

  /** How many times as fast as the CPU accelerators are. */
  public double acceleration = 4;

  /** What a model throws on this phone when it is loaded. */
  public final Map<String, Throwable> failures = new HashMap<>();

  public int thermalStatus;
  public boolean powerSave;

  /** Time, on the phone's clock, from which on it is cool; for phones that cool down by themselves. */
  public long coolFrom = Long.MAX_VALUE;

  /** How much faster each thread makes a model: 1 for twice as fast with two. */
  public double parallel;

  /** A run takes up to this share longer than the fastest. */
  public double jitter = 0.1;

  /** How long a run of a mobile model takes at least on a core at full clock, milliseconds; the original's twice. */
  public double fastestMs = 1;

  /**
   * Work, in milliseconds, until a core that has slept runs at full clock: it begins at a third and rises in
   * steps. 0 for cores that always do.
   */
  public double rampMs;

  /** CPU time of a run divided by its elapsed time. */
  public double busyCores = 1;

  /** Whether it tells its memory: a loaded model takes 8 MiB, int8 2 MiB, loading twice that, each run 4 kiB. */
  public boolean tellsMemory = true;

  /** Whether the runtime logs how much of a model its delegate takes. */
  public boolean logsDelegation = true;

  /** Whether threads can be bound to cores. */
  public boolean bindsCores = true;

  private List<Integer> allowed = List.of(0, 1, 2, 3);
  private boolean detects;
  private final Random noise = new Random(0);
  private long nanos = 1_000_000_000;
  private long cpuNanos;
  private double workedMs;
  private long resident = PROCESS_BYTES;
  private long peak = PROCESS_BYTES;

  public FakePhone() {
    Random random = new Random(1);
    List<JSONObject> images = new ArrayList<>();
    for (int i = 0; i < IMAGES; i++) {
      byte[] pixels = new byte[SIDE * SIDE];
      random.nextBytes(pixels);
      String file = "images/" + i + ".png";
      files.put(file, pixels);
      float[] right = output(ORIGINAL, values(pixels));
      int label = i == 0 ? (Statistics.argmax(right) + 1) % CLASSES : Statistics.argmax(right);
      images.add(Json.object("file", file, "label", label));
    }
    List<JSONObject> models = new ArrayList<>();
    for (String file : List.of(ORIGINAL, INT8, DYNAMIC)) {
      files.put(file, ("content of " + file).getBytes());
      models.add(model(file));
    }
    described =
        Json.object(
            "bundle_version", Bundle.VERSION,
            "task", JsonParts.task(Task.classification()),
            "detection", null,
            "name", "sums",
            "runtime", "2.16",
            "class_names", List.of("zero", "one", "two"),
            "images", images,
            "pairs", List.of(pair("int8", INT8), pair("dynamic", DYNAMIC)),
            "models", models);
  }

  private static JSONObject pair(String name, String mobile) {
    return Json.object("name", name, "original", ORIGINAL, "mobile", mobile);
  }

  private JSONObject model(String file) {
    return Json.object(
        "file", file,
        "title", "the " + file,
        "preset", null,
        "bytes", files.get(file).length,
        "sha256", Contents.sha256(files.get(file)),
        "input",
            JsonParts.input(
                new Tensor("image", new int[] {1, SIDE, SIDE, 1}, Tensor.Type.FLOAT32, 0, 0),
                new InputRange(-2, 2)),
        "outputs", JsonParts.tensors(List.of(output("logits", 1, CLASSES))),
        "reference", reference(file, part("logits", 0, 0.001)),
        "metrics", Json.object("accuracy", 0.97));
  }

  private static Tensor output(String name, int... shape) {
    return new Tensor(name, shape, Tensor.Type.FLOAT32, 0, 0);
  }

  private static JSONObject part(String name, int offset, Double limit) {
    return Json.object("name", name, "offset", offset, "max_abs_diff", limit);
  }

  /** Writes the file of a model's correct outputs. */
  private JSONObject reference(String file, JSONObject... parts) {
    ByteBuffer rows = ByteBuffer.allocate(4 * IMAGES * output(file, new float[SIDE * SIDE]).length);
    rows.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < IMAGES; i++) {
      for (float value : output(file, values(files.get("images/" + i + ".png")))) {
        rows.putFloat(value);
      }
    }
    String name = file.replace(".tflite", ".bin");
    files.put(name, rows.array());
    return Json.object(
        "file", name,
        "bytes", rows.capacity(),
        "sha256", Contents.sha256(rows.array()),
        "outputs", parts,
        "runtime", "keras 3.15.0");
  }

  private static float[] values(byte[] pixels) {
    float[] values = new float[pixels.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = -2 + (pixels[i] & 255) * (float) (4 / 255.0);
    }
    return values;
  }

  private float[] output(String file, float[] values) {
    float[] sums = sums(file, values);
    return detects ? detected(sums) : sums;
  }

  /** Three boxes, and logits of three classes for each: the second of every picture is the class two. */
  private static float[] detected(float[] sums) {
    float[] boxes = {0.3f, 0.3f, 0.4f, 0.5f, 0.7f, 0.65f, 0.5f, 0.6f, 0.5f, 0.5f, 0.1f, 0.1f};
    float[] row = Arrays.copyOf(boxes, boxes.length + 3 * CLASSES);
    System.arraycopy(sums, 0, row, boxes.length, CLASSES);
    Arrays.fill(row, boxes.length + CLASSES, row.length, -9);
    row[boxes.length + 2 * CLASSES - 1] = 3;
    return row;
  }

  private static float[] sums(String file, float[] values) {
    float[] sums = new float[CLASSES];
    for (int i = 0; i < values.length; i++) {
      sums[i % CLASSES] += values[i];
    }
    for (int i = 0; i < CLASSES && file.equals(INT8); i++) {
      sums[i] = Math.round(sums[i] * 4) / 4f;
    }
    return sums;
  }

  /** Adds int8 as cut into operations, two files of one kind and one of another; each takes a quarter of it. */
  public void cut() throws Exception {
    JSONArray cuts = new JSONArray();
    for (String name : List.of("MLP 0", "MLP 1", "Convolution 0")) {
      String file = "cuts/int8/" + name.replace(' ', '_') + ".tflite";
      files.put(file, name.getBytes());
      cuts.put(
          Json.object(
              "kind", name.split(" ")[0],
              "file", file,
              "bytes", files.get(file).length,
              "sha256", Contents.sha256(files.get(file))));
    }
    models().get(1).put("cuts", cuts);
  }

  /** Turns the bundle into one of a detector. */
  public void detect() throws Exception {
    detects = true;
    Measure metric = new Measure("ap", "AP", true, true);
    Measure agreement = new Measure("detection_agreement", "Same detections", true, true);
    described.put("task", JsonParts.task(new Task("detection", metric, agreement)));
    described.put(
        "detection",
        Json.object(
            "scores", "logits",
            "boxes", "boxes",
            "classes", null,
            "box_format", "center_size",
            "score_threshold", 0.5,
            "score_margin", 0.05,
            "same_box_iou", 0.75,
            "suppression_iou", null,
            "candidates", 100,
            "most", 100));
    withoutLabels();
    List<Tensor> outputs = List.of(output("boxes", 1, 3, 4), output("logits", 1, 3, CLASSES));
    for (JSONObject model : models()) {
      model.put("metrics", Json.object("ap", 0.5));
      model.put("outputs", new JSONArray(JsonParts.tensors(outputs)));
      model.put(
          "reference",
          reference(model.getString("file"), part("boxes", 0, 0.0001), part("logits", 12, 0.001)));
    }
  }

  /** Turns the bundle into one of clips of two frames of two rows each. */
  public void film() throws Exception {
    Measure metric = new Measure("accuracy", "Accuracy", true, true);
    Measure agreement = new Measure("top1_agreement", "Same class", true, true);
    described.put("task", JsonParts.task(new Task("video_classification", metric, agreement)));
    for (JSONObject model : models()) {
      model.getJSONObject("input").put("shape", new JSONArray(List.of(1, 2, SIDE / 2, SIDE, 1)));
    }
  }

  private List<JSONObject> models() throws Exception {
    JSONArray array = described.getJSONArray("models");
    List<JSONObject> models = new ArrayList<>();
    for (int i = 0; i < array.length(); i++) {
      models.add(array.getJSONObject(i));
    }
    return models;
  }

  private void withoutLabels() throws Exception {
    for (int i = 0; i < IMAGES; i++) {
      described.getJSONArray("images").getJSONObject(i).put("label", JSONObject.NULL);
    }
  }

  /** Turns the bundle into one of another task, whose outputs are classes of a single pixel. */
  public void segment() throws Exception {
    Measure metric = new Measure("mean_iou", "Mean IoU", true, true);
    Measure agreement = new Measure("pixel_agreement", "Same class of a pixel", true, true);
    described.put("task", JsonParts.task(new Task("segmentation", metric, agreement)));
    withoutLabels();
    for (JSONObject model : models()) {
      JSONArray shape = new JSONArray(List.of(1, 1, 1, CLASSES));
      model.put("metrics", new JSONObject()).getJSONArray("outputs").getJSONObject(0).put("shape", shape);
    }
  }

  /** The bundle that {@link #described} describes. */
  public Bundle bundle() throws IOException {
    files.put("bundle.json", described.toString().getBytes());
    return Bundle.read(this);
  }

  public Benchmark benchmark() throws IOException {
    return benchmark(bundle());
  }

  public Benchmark benchmark(Bundle bundle) {
    return new Benchmark(bundle, this, this, this);
  }

  @Override
  public InputStream open(String file) throws IOException {
    if (!files.containsKey(file)) {
      throw new FileNotFoundException("there is no " + file);
    }
    return new ByteArrayInputStream(files.get(file));
  }

  @Override
  public String toString() {
    return "phone";
  }

  @Override
  public Picture decode(InputStream file, int channels) throws IOException {
    byte[] pixels = new byte[SIDE * SIDE];
    if (file.read(pixels) != pixels.length) {
      throw new IOException("it is damaged or no image");
    }
    return new Picture(SIDE, SIDE, channels, pixels);
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public long cpuNanos() {
    return cpuNanos;
  }

  @Override
  public void sleep(long milliseconds) {
    log.add("sleep " + milliseconds);
    nanos += 1_000_000 * milliseconds;
    workedMs = 0;
  }

  /** How much longer than at full clock everything takes. */
  private double slowness() {
    double steps = Math.floor(workedMs / CLOCK_STEP_MS) * CLOCK_STEP_MS;
    return rampMs == 0 ? 1 : 3 / Math.min(3, 1 + 2 * steps / rampMs);
  }

  @Override
  public State state() {
    if (nanos >= coolFrom) {
      thermalStatus = 0;
    }
    long time = 1_767_323_045_000L + nanos / 1_000_000;
    return new State(time, thermalStatus, 0.4, 81.0, 31.5, false, powerSave);
  }

  @Override
  public Memory memory() {
    return tellsMemory ? new Memory(resident, peak) : null;
  }

  /** The memory of a model in a new process. */
  public ModelMemory memory(Bundle bundle, ModelFile model, Settings settings) throws ModelException {
    FakePhone process = new FakePhone();
    process.tellsMemory = tellsMemory;
    process.missing.putAll(missing);
    ModelMemory memory = ModelMemory.measure(bundle, model, process, process, settings);
    log.addAll(process.log);
    return memory;
  }

  private void take(long bytes) {
    resident += bytes;
    peak = Math.max(peak, resident);
  }

  @Override
  public int cores() {
    return 4;
  }

  @Override
  public void bind(List<Integer> cores) {
    log.add("bind " + cores);
    allowed = bindsCores ? cores : allowed;
  }

  @Override
  public List<Integer> allowedCores() {
    return allowed;
  }

  @Override
  public Runner open(ModelFile model, BundleSource source, Settings settings) throws AcceleratorException {
    Accelerator accelerator = settings.accelerator();
    if (missing.containsKey(accelerator)) {
      throw new AcceleratorException(accelerator, missing.get(accelerator), null);
    }
    log.add("open " + model.file);
    Throwable failure = failures.get(model.file);
    if (failure instanceof Error) {
      throw (Error) failure;
    } else if (failure != null) {
      throw (RuntimeException) failure;
    }
    return model.isCut() ? new FakeCut(model.file) : new FakeRunner(model.file, settings);
  }

  private class FakeRunner implements Runner {
    final String file;
    private final Accelerator accelerator;
    private final double speedup;

    FakeRunner(String file, Settings settings) {
      this.file = file;
      this.accelerator = settings.accelerator();
      take(2 * bytes());
      take(-bytes());
      this.speedup = 1 + parallel * (settings.threads - 1);
    }

    long bytes() {
      return (file.equals(INT8) ? 2L : 8L) << 20;
    }

    @Override
    public float[] run(ByteBuffer input) {
      log.add("run " + file);
      take(4 << 10);
      double base = (file.equals(ORIGINAL) ? 2e6 : 1e6) * fastestMs * slowness() / speedup / (accelerator == Accelerator.CPU ? 1 : acceleration);
      long passed = (long) (base * (1 + jitter * noise.nextDouble()));
      workedMs += passed / 1e6;
      nanos += passed;
      cpuNanos += (long) (busyCores * passed);
      float[] values = new float[input.capacity() / 4];
      input.duplicate().order(input.order()).asFloatBuffer().get(values);
      shown.add(values[0]);
      float[] output = output(file, values);
      output[0] += offsets.getOrDefault(file, 0f);
      return output;
    }

    @Override
    public double initMs() {
      return 12.5;
    }

    @Override
    public String runtimeName() {
      return "TFLite Interpreter";
    }

    @Override
    public String runtimeVersion() {
      return "2.16.1";
    }

    @Override
    public String delegate() {
      return accelerator == Accelerator.GPU ? "GPU delegate" : accelerator == Accelerator.NPU ? "NNAPI" : "XNNPACK";
    }

    @Override
    public Delegation delegation() {
      return !logsDelegation ? null : delegations.getOrDefault(file, new Delegation(86, 86, 1));
    }

    @Override
    public Accelerator used() {
      return accelerator;
    }

    @Override
    public void close() {
      take(-bytes());
      log.add("close " + file);
    }
  }

  private final class FakeCut extends FakeRunner {
    FakeCut(String file) {
      super(file, Settings.DEFAULT);
    }

    @Override
    public float[] run(ByteBuffer input) {
      log.add("run " + file);
      nanos += (long) (1e6 * fastestMs / 4);
      return new float[0];
    }
  }
}
