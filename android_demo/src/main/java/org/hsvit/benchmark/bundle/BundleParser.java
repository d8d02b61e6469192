package org.hsvit.benchmark.bundle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONException;
import org.json.JSONObject;

/** Reads a bundle from its {@code bundle.json}, and checks every field. */
final class BundleParser {
  static final String FILE = "bundle.json";
  private static final int VERSION = 2;

  private final BundleSource source;
  private List<String> classNames;
  private int imageCount;

  BundleParser(BundleSource source) {
    this.source = source;
  }

  Bundle parse() throws IOException {
    Fields fields = read();
    checkVersion(fields);
    Task task = task(fields.object("task"));
    classNames = fields.texts("class_names");
    List<LabeledImage> images = images(fields);
    imageCount = images.size();
    Map<String, ModelFile> models = models(fields);
    return new Bundle(
        task,
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
      fields.integer("bundle_version", VERSION, VERSION);
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
      if (!Arrays.equals(model.output.shape, first.output.shape)) {
        throw described.object("output").wrong("shape", "the same as that of " + first.file);
      }
    }
    return models;
  }

  private ModelFile model(Fields fields) throws BundleException {
    Fields input = fields.object("input");
    Tensor taken = tensor(input, 4, 5, "[1, height, width, channels], with frames behind the 1 of clips");
    int channels = taken.shape[taken.shape.length - 1];
    if (channels != 1 && channels != 3) {
      throw input.wrong("shape", "[1, height, width, 1 or 3], with frames behind the 1 of clips");
    }
    Fields output = fields.object("output");
    Tensor given = tensor(output, 2, 4, "[1, ...] with 2 to 4 axes");
    int last = given.shape[given.shape.length - 1];
    if (!classNames.isEmpty() && last != classNames.size()) {
      throw output.wrong("shape", "[1, ..., " + classNames.size() + "], one for each of class_names");
    }
    String sha256 = fields.text("sha256");
    if (!sha256.matches("[0-9a-f]{64}")) {
      throw fields.wrong("sha256", "64 hexadecimal digits");
    }
    return new ModelFile(
        file(fields, "file", ".tflite"),
        fields.text("title"),
        fields.isNull("preset") ? null : fields.text("preset"),
        fields.integer("bytes", 1, Integer.MAX_VALUE),
        sha256,
        taken,
        given,
        range(input),
        fields.isNull("reference") ? null : reference(fields.object("reference"), given.elements()),
        fields.object("metrics").namedNumbers());
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

  private Reference reference(Fields fields, int size) throws BundleException {
    List<List<Double>> rows = fields.table("outputs");
    float[][] outputs = new float[rows.size()][size];
    boolean right = outputs.length == imageCount;
    for (int i = 0; right && i < outputs.length; i++) {
      right = rows.get(i).size() == size;
      for (int j = 0; right && j < size; j++) {
        outputs[i][j] = rows.get(i).get(j).floatValue();
      }
    }
    if (!right) {
      throw fields.wrong("outputs", imageCount + " lists, one for each image, of " + size + " numbers");
    }
    double limit = fields.number("max_abs_diff");
    if (limit < 0) {
      throw fields.wrong("max_abs_diff", "at least 0");
    }
    return new Reference(outputs, limit, fields.text("runtime"));
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
