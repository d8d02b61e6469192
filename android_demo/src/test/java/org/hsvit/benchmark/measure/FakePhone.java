package org.hsvit.benchmark.measure;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.report.Json;
import org.json.JSONObject;

/**
 * A phone without Android: models are arithmetic, time passes as it is told to, and all is written down.
 *
 * <p>Its bundle has ten gray pictures of 4 x 4 and 3 classes. A model of it sums every third value; {@code
 * int8.tflite} rounds the sums, {@code dynamic.tflite} is what a phone gets wrong.
 */
public final class FakePhone implements BundleSource, RunnerFactory, PictureDecoder, Machine {
  public static final String ORIGINAL = "original.tflite";
  public static final String INT8 = "int8.tflite";
  public static final String DYNAMIC = "dynamic.tflite";
  private static final int IMAGES = 10;
  private static final int SIDE = 4;
  private static final int CLASSES = 3;

  /** What the bundle's files hold. */
  public final Map<String, byte[]> files = new HashMap<>();

  /** What bundle.json says, to be changed before {@link #bundle()}. */
  public final JSONObject described;

  /** What happened: {@code open FILE}, {@code run FILE}, {@code sleep MS}, {@code close FILE}. */
  public final List<String> log = new ArrayList<>();

  /** The first number of every picture that a model was shown. */
  public final List<Float> shown = new ArrayList<>();

  /** Added to the outputs of a model on this phone. */
  public final Map<String, Float> offsets = new HashMap<>();

  public int thermalStatus;
  public boolean powerSave;

  /** A run takes up to this share longer than it must. */
  public double jitter = 0.1;

  /** CPU time that passes in a run over time that passes. */
  public double busyCores = 1;

  private final Random noise = new Random(0);
  private long nanos = 1_000_000_000;
  private long cpuNanos;

  public FakePhone() {
    Random random = new Random(1);
    List<JSONObject> images = new ArrayList<>();
    List<byte[]> pictures = new ArrayList<>();
    for (int i = 0; i < IMAGES; i++) {
      byte[] pixels = new byte[SIDE * SIDE];
      random.nextBytes(pixels);
      String file = "images/" + i + ".png";
      files.put(file, pixels);
      pictures.add(pixels);
      float[] right = answer(ORIGINAL, values(pixels));
      int label = i == 0 ? (Statistics.argmax(right) + 1) % CLASSES : Statistics.argmax(right);
      images.add(Json.object("file", file, "label", label));
    }
    List<JSONObject> models = new ArrayList<>();
    for (String file : List.of(ORIGINAL, INT8, DYNAMIC)) {
      files.put(file, ("content of " + file).getBytes());
      models.add(model(file, pictures));
    }
    described =
        Json.object(
            "bundle_version", 1,
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

  private JSONObject model(String file, List<byte[]> pictures) {
    float[][] answers = new float[pictures.size()][];
    for (int i = 0; i < answers.length; i++) {
      answers[i] = answer(file, values(pictures.get(i)));
    }
    return Json.object(
        "file", file,
        "title", "the " + file,
        "preset", null,
        "bytes", files.get(file).length,
        "sha256", Contents.sha256(files.get(file)),
        "input",
            Json.object(
                "shape", List.of(1, SIDE, SIDE, 1),
                "dtype", "float32",
                "pixels", false,
                "mean", List.of(0.5),
                "std", List.of(0.25),
                "scale", null,
                "zero_point", null),
        "output",
            Json.object(
                "shape", List.of(1, CLASSES), "dtype", "float32", "scale", null, "zero_point", null),
        "reference",
            Json.object("outputs", answers, "max_abs_diff", 0.001, "runtime", "keras 3.15.0"),
        "accuracy", 0.97);
  }

  private static float[] values(byte[] pixels) {
    float[] values = new float[pixels.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = ((pixels[i] & 255) * (float) (1 / 255.0) - 0.5f) / 0.25f;
    }
    return values;
  }

  private static float[] answer(String file, float[] values) {
    float[] sums = new float[CLASSES];
    for (int i = 0; i < values.length; i++) {
      sums[i % CLASSES] += values[i];
    }
    for (int i = 0; i < CLASSES && file.equals(INT8); i++) {
      sums[i] = Math.round(sums[i] * 4) / 4f;
    }
    return sums;
  }

  /** The bundle as {@link #described} says now. */
  public Bundle bundle() throws IOException {
    files.put("bundle.json", described.toString().getBytes());
    return Bundle.read(this);
  }

  public Benchmark benchmark() throws IOException {
    return new Benchmark(bundle(), this, this, this);
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
  }

  @Override
  public State state() {
    long time = 1_767_323_045_000L + nanos / 1_000_000;
    return new State(time, thermalStatus, 0.4, 81.0, false, powerSave);
  }

  @Override
  public Runner open(ModelFile model, BundleSource source, Settings settings) {
    log.add("open " + model.file);
    return new FakeRunner(model.file);
  }

  private final class FakeRunner implements Runner {
    private final String file;

    FakeRunner(String file) {
      this.file = file;
    }

    @Override
    public float[] run(ByteBuffer input) {
      log.add("run " + file);
      double base = file.equals(ORIGINAL) ? 2e6 : 1e6;
      long passed = (long) (base * (1 + jitter * noise.nextDouble()));
      nanos += passed;
      cpuNanos += (long) (busyCores * passed);
      float[] values = new float[input.capacity() / 4];
      input.duplicate().order(input.order()).asFloatBuffer().get(values);
      shown.add(values[0]);
      float[] answer = answer(file, values);
      answer[0] += offsets.getOrDefault(file, 0f);
      return answer;
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
      return "XNNPACK";
    }

    @Override
    public Accelerator used() {
      return Accelerator.CPU;
    }

    @Override
    public void close() {
      log.add("close " + file);
    }
  }
}
