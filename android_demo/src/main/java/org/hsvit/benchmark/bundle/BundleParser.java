package org.hsvit.benchmark.bundle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.json.JSONException;
import org.json.JSONObject;

/** Reads a bundle from its {@code bundle.json}, and checks every field. */
final class BundleParser {
  static final String FILE = "bundle.json";

  private final BundleSource source;
  private List<String> classNames;
  private Detection detection;
  private int imageCount;

  BundleParser(BundleSource source) {
    this.source = source;
  }

  Bundle parse() throws IOException {
    Fields fields = read();
    checkVersion(fields);
    Task task = task(fields.object("task"));
    detection = fields.isNull("detection") ? null : new Detection(fields.object("detection"));
    classNames = fields.texts("class_names");
    List<LabeledImage> images = images(fields);
    imageCount = images.size();
    Map<String, ModelFile> models = models(fields);
    return new Bundle(
        task,
        detection,
        fields.text("name"),
        fields.text("runtime"),
        List.copyOf(classNames),
        List.copyOf(images),
        models,
        List.copyOf(pairs(fields, models)),
        source);
  }

  private Fields read() throws IOException {
    try {
      String text = new String(Contents.read(source, FILE), StandardCharsets.UTF_8);
      return new Fields(new JSONObject(text), FILE + ": ");
    } catch (JSONException error) {
      throw new BundleException(FILE + " is no JSON object: " + error.getMessage(), error);
    } catch (IOException error) {
      throw new IOException("cannot read " + FILE + ": " + error.getMessage(), error);
    }
  }

  private static void checkVersion(Fields fields) throws BundleException {
    try {
      fields.integer("bundle_version", Bundle.VERSION, Bundle.VERSION);
    } catch (BundleException error) {
      throw new BundleException(error.getMessage() + ": make the bundle again with export.bundle", error);
    }
  }

  private static Task task(Fields fields) throws BundleException {
    return new Task(fields.text("name"), measure(fields, "metric"), measure(fields, "agreement"));
  }

  private static Measure measure(Fields task, String name) throws BundleException {
    if (task.isNull(name)) {
      return null;
    }
    Fields fields = task.object(name);
    return new Measure(
        fields.text("name"),
        fields.text("title"),
        fields.flag("higher_is_better"),
        fields.flag("is_share"));
  }

  private List<LabeledImage> images(Fields fields) throws BundleException {
    List<LabeledImage> images = new ArrayList<>();
    for (Fields image : fields.objects("images")) {
      Integer label = null;
      if (!image.isNull("label")) {
        label = (int) image.integer("label", 0, Math.max(0, classNames.size() - 1));
      }
      images.add(new LabeledImage(file(image, "file", ""), label));
    }
    return images;
  }

  private Map<String, ModelFile> models(Fields fields) throws BundleException {
    Map<String, ModelFile> models = new LinkedHashMap<>();
    ModelFile first = null;
    for (Fields described : fields.objects("models")) {
      ModelFile model = model(described);
      first = first == null ? model : first;
      if (models.put(model.file, model) != null) {
        throw described.wrong("file", "unique");
      }
      if (!Arrays.equals(model.input.shape, first.input.shape)) {
        throw described.object("input").wrong("shape", "the same as that of " + first.file);
      }
      if (!told(model.outputs).equals(told(first.outputs))) {
        throw described.wrong("outputs", "those of " + first.file + ", " + told(first.outputs));
      }
    }
    return models;
  }

  /** Shapes of outputs, with their names where there are several. */
  private static List<String> told(List<Tensor> outputs) {
    List<String> told = new ArrayList<>();
    for (Tensor output : outputs) {
      told.add((outputs.size() > 1 ? output.name + " " : "") + Arrays.toString(output.shape));
    }
    return told;
  }

  private ModelFile model(Fields fields) throws BundleException {
    Fields input = fields.object("input");
    Tensor taken = tensor(input, 4, 5, "[1, height, width, channels], with frames behind the 1 of clips");
    int channels = taken.shape[taken.shape.length - 1];
    if (channels != 1 && channels != 3) {
      throw input.wrong("shape", "[1, height, width, 1 or 3], with frames behind the 1 of clips");
    }
    List<Tensor> outputs = outputs(fields);
    return new ModelFile(
        file(fields, "file", ".tflite"),
        fields.text("title"),
        fields.isNull("preset") ? null : fields.text("preset"),
        fields.integer("bytes", 1, Integer.MAX_VALUE),
        sha256(fields),
        taken,
        outputs,
        range(input),
        fields.isNull("reference") ? null : reference(fields.object("reference"), Part.of(outputs)),
        fields.isNull("delegation") ? null : delegation(fields.object("delegation")),
        fields.isNull("cuts") ? List.of() : cuts(fields.objects("cuts")),
        fields.object("metrics").namedNumbers());
  }

  private static List<Cut> cuts(List<Fields> described) throws BundleException {
    List<Cut> cuts = new ArrayList<>();
    for (Fields fields : described) {
      cuts.add(
          new Cut(
              fields.text("kind"),
              file(fields, "file", ".tflite"),
              fields.integer("bytes", 1, Integer.MAX_VALUE),
              sha256(fields)));
    }
    return cuts;
  }

  private static Delegation delegation(Fields fields) throws BundleException {
    int total = (int) fields.integer("nodes_total", 0, Integer.MAX_VALUE);
    return new Delegation(
        (int) fields.integer("nodes_delegated", 0, total),
        total,
        (int) fields.integer("partitions", 0, total));
  }

  private List<Tensor> outputs(Fields fields) throws BundleException {
    List<Tensor> outputs = new ArrayList<>();
    for (Fields output : fields.objects("outputs")) {
      outputs.add(tensor(output, 1, 4, "[1, ...] with 1 to 4 axes"));
      int[] shape = outputs.get(outputs.size() - 1).shape;
      boolean ofClasses = !classNames.isEmpty() && hasClasses(fields, output);
      if (ofClasses && shape[shape.length - 1] != classNames.size()) {
        throw output.wrong("shape", "[1, ..., " + classNames.size() + "], one for each of class_names");
      }
    }
    if (outputs.isEmpty()) {
      throw fields.wrong("outputs", "at least one output");
    }
    if (detection != null) {
      checkDetection(fields, outputs);
    }
    return outputs;
  }

  /** Whether the last axis of an output has an index for each class. */
  private boolean hasClasses(Fields model, Fields output) throws BundleException {
    return detection == null
        ? model.objects("outputs").size() == 1
        : detection.classes == null && output.text("name").equals(detection.scores);
  }

  /** Boxes have four numbers, and scores and classes are those of as many boxes. */
  private void checkDetection(Fields fields, List<Tensor> outputs) throws BundleException {
    int[] boxes = shape(fields, outputs, detection.boxes);
    int[] scores = shape(fields, outputs, detection.scores);
    boolean right = boxes.length == 3 && boxes[2] == 4 && scores.length > 1 && scores[1] == boxes[1];
    right &= scores.length == (detection.classes == null ? 3 : 2);
    if (detection.classes != null) {
      right &= Arrays.equals(shape(fields, outputs, detection.classes), scores);
    }
    if (!right) {
      throw fields.wrong("outputs", "boxes [1, boxes, 4] and scores of as many boxes, see detection");
    }
  }

  private static int[] shape(Fields fields, List<Tensor> outputs, String name) throws BundleException {
    for (Tensor output : outputs) {
      if (output.name.equals(name)) {
        return output.shape;
      }
    }
    throw fields.wrong("outputs", "such as detection names: " + name + " among them");
  }

  private static Tensor tensor(Fields fields, int leastRank, int mostRank, String expected)
      throws BundleException {
    String name = fields.text("name");
    List<Double> sizes = fields.numbers("shape");
    int[] shape = new int[sizes.size()];
    boolean right = leastRank <= shape.length && shape.length <= mostRank;
    for (int i = 0; i < shape.length; i++) {
      shape[i] = sizes.get(i).intValue();
      right &= shape[i] == sizes.get(i) && shape[i] >= 1;
    }
    if (!right || shape[0] != 1) {
      throw fields.wrong("shape", expected);
    }
    Tensor.Type type = type(fields);
    if (fields.isNull("scale")) {
      return new Tensor(name, shape, type, 0, 0);
    }
    float scale = (float) fields.number("scale");
    if (!(scale > 0)) {
      throw fields.wrong("scale", "positive, or null");
    }
    int zeroPoint = (int) fields.integer("zero_point", type.min, type.max);
    return new Tensor(name, shape, type, scale, zeroPoint);
  }

  private static Tensor.Type type(Fields fields) throws BundleException {
    String name = fields.text("dtype");
    for (Tensor.Type type : Tensor.Type.values()) {
      if (type.toString().equals(name)) {
        return type;
      }
    }
    throw fields.wrong("dtype", "one of " + Arrays.toString(Tensor.Type.values()));
  }

  private static InputRange range(Fields fields) throws BundleException {
    List<Double> range = fields.numbers("range");
    if (range.size() != 2 || !InputRange.isValid(range.get(0), range.get(1))) {
      throw fields.wrong("range", "two different numbers, those of a black and of a white pixel");
    }
    return new InputRange(range.get(0), range.get(1));
  }

  private Reference reference(Fields fields, List<Part> parts) throws BundleException {
    int size = parts.get(parts.size() - 1).end;
    long bytes = 4L * imageCount * size;
    if (bytes > Integer.MAX_VALUE) {
      throw fields.wrong("bytes", "at most " + Integer.MAX_VALUE);
    }
    fields.integer("bytes", bytes, bytes);
    List<Fields> outputs = fields.objects("outputs");
    if (outputs.size() != parts.size()) {
      throw fields.wrong("outputs", "one entry for each of the model's outputs");
    }
    Double[] limits = new Double[parts.size()];
    for (int i = 0; i < limits.length; i++) {
      Fields output = outputs.get(i);
      output.integer("offset", parts.get(i).start, parts.get(i).start);
      if (!output.text("name").equals(parts.get(i).name)) {
        throw output.wrong("name", "that of the model's output, " + parts.get(i).name);
      }
      limits[i] = output.isNull("max_abs_diff") ? null : output.number("max_abs_diff");
      if (limits[i] != null && limits[i] < 0) {
        throw output.wrong("max_abs_diff", "at least 0, or null");
      }
    }
    if (Arrays.stream(limits).allMatch(Objects::isNull)) {
      throw fields.wrong("outputs", "at least one output with max_abs_diff");
    }
    String file = file(fields, "file", ".bin");
    return new Reference(file, sha256(fields), imageCount, size, limits, fields.text("runtime"));
  }

  private static String sha256(Fields fields) throws BundleException {
    String sha256 = fields.text("sha256");
    if (!sha256.matches("[0-9a-f]{64}")) {
      throw fields.wrong("sha256", "64 hexadecimal digits");
    }
    return sha256;
  }

  private List<Pair> pairs(Fields fields, Map<String, ModelFile> models) throws BundleException {
    Map<String, Pair> pairs = new LinkedHashMap<>();
    for (Fields described : fields.objects("pairs")) {
      String name = described.text("name");
      Pair pair = new Pair(name, named(described, "original", models), named(described, "mobile", models));
      if (name.isEmpty() || pairs.put(name, pair) != null) {
        throw described.wrong("name", "unique and not empty");
      }
    }
    if (pairs.isEmpty()) {
      throw fields.wrong("pairs", "at least one pair");
    }
    return new ArrayList<>(pairs.values());
  }

  private static ModelFile named(Fields fields, String name, Map<String, ModelFile> models)
      throws BundleException {
    ModelFile model = models.get(fields.text(name));
    if (model == null) {
      throw fields.wrong(name, "one of models: " + String.join(", ", models.keySet()));
    }
    return model;
  }

  /** The name of a file inside the bundle's folder. */
  private static String file(Fields fields, String name, String suffix) throws BundleException {
    String file = fields.text(name);
    List<String> parts = Arrays.asList(file.split("/", -1));
    if (parts.contains("") || parts.contains(".") || parts.contains("..") || !file.endsWith(suffix)) {
      String ending = suffix.isEmpty() ? "" : " that ends in " + suffix;
      throw fields.wrong(name, "the name of a file in the bundle" + ending);
    }
    return file;
  }
}
