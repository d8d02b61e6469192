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

/** Makes a bundle of its {@code bundle.json}, and believes nothing that it has not looked at. */
final class BundleParser {
  static final String FILE = "bundle.json";
  private static final int VERSION = 1;

  private final BundleSource source;
  private List<String> classNames;
  private int imageCount;

  BundleParser(BundleSource source) {
    this.source = source;
  }

  Bundle parse() throws IOException {
    Fields fields = read();
    fields.integer("bundle_version", VERSION, VERSION);
    classNames = fields.texts("class_names");
    List<LabeledImage> images = images(fields);
    imageCount = images.size();
    Map<String, ModelFile> models = models(fields);
    return new Bundle(
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
        throw described.wrong("file", "named once");
      }
      if (!Arrays.equals(model.input.shape, first.input.shape)) {
        throw described.object("input").wrong("shape", "as of " + first.file);
      }
      if (!Arrays.equals(model.output.shape, first.output.shape)) {
        throw described.object("output").wrong("shape", "as of " + first.file);
      }
    }
    return models;
  }

  private ModelFile model(Fields fields) throws BundleException {
    Fields input = fields.object("input");
    Tensor taken = tensor(input, 4);
    int channels = taken.shape[3];
    if (channels != 1 && channels != 3) {
      throw input.wrong("shape", "[1, height, width, 1 or 3]");
    }
    Fields output = fields.object("output");
    Tensor given = tensor(output, 2);
    int classes = given.shape[1];
    if (!classNames.isEmpty() && classes != classNames.size()) {
      throw output.wrong("shape", "[1, " + classNames.size() + "], one for each of class_names");
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
        input.flag("pixels"),
        perChannel(input, "mean", channels, Double.NEGATIVE_INFINITY),
        perChannel(input, "std", channels, 0),
        fields.isNull("reference") ? null : reference(fields.object("reference"), classes),
        fields.isNull("accuracy") ? null : share(fields, "accuracy"));
  }

  private static Tensor tensor(Fields fields, int rank) throws BundleException {
    List<Double> sizes = fields.numbers("shape");
    int[] shape = new int[sizes.size()];
    boolean right = shape.length == rank;
    for (int i = 0; i < shape.length; i++) {
      shape[i] = sizes.get(i).intValue();
      right &= shape[i] == sizes.get(i) && shape[i] >= 1;
    }
    if (!right || shape[0] != 1) {
      throw fields.wrong("shape", rank == 4 ? "[1, height, width, channels]" : "[1, classes]");
    }
    Tensor.Type type = type(fields);
    if (fields.isNull("scale")) {
      return new Tensor(shape, type, 0, 0);
    }
    float scale = (float) fields.number("scale");
    if (!(scale > 0)) {
      throw fields.wrong("scale", "positive, or null");
    }
    return new Tensor(shape, type, scale, (int) fields.integer("zero_point", type.min, type.max));
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

  private static List<Double> perChannel(Fields fields, String name, int channels, double above)
      throws BundleException {
    List<Double> values = fields.numbers(name);
    boolean right = values.size() == 1 || values.size() == channels;
    for (double value : values) {
      right &= value > above;
    }
    if (!right) {
      String limit = above == 0 ? ", positive" : "";
      throw fields.wrong(name, "one number or one for each of " + channels + " channels" + limit);
    }
    return List.copyOf(values);
  }

  private Reference reference(Fields fields, int classes) throws BundleException {
    List<List<Double>> rows = fields.table("outputs");
    float[][] outputs = new float[rows.size()][classes];
    boolean right = outputs.length == imageCount;
    for (int i = 0; right && i < outputs.length; i++) {
      right = rows.get(i).size() == classes;
      for (int j = 0; right && j < classes; j++) {
        outputs[i][j] = rows.get(i).get(j).floatValue();
      }
    }
    if (!right) {
      throw fields.wrong("outputs", imageCount + " lists, one an image, of " + classes + " numbers");
    }
    double limit = fields.number("max_abs_diff");
    if (limit < 0) {
      throw fields.wrong("max_abs_diff", "at least 0");
    }
    return new Reference(outputs, limit, fields.text("runtime"));
  }

  private static double share(Fields fields, String name) throws BundleException {
    double value = fields.number(name);
    if (value < 0 || value > 1) {
      throw fields.wrong(name, "from 0 to 1");
    }
    return value;
  }

  private List<Pair> pairs(Fields fields, Map<String, ModelFile> models) throws BundleException {
    Map<String, Pair> pairs = new LinkedHashMap<>();
    for (Fields described : fields.objects("pairs")) {
      String name = described.text("name");
      Pair pair = new Pair(name, named(described, "original", models), named(described, "mobile", models));
      if (name.isEmpty() || pairs.put(name, pair) != null) {
        throw described.wrong("name", "not empty and named once");
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

  /** A file of the bundle: no way leads out of its folder. */
  private static String file(Fields fields, String name, String suffix) throws BundleException {
    String file = fields.text(name);
    List<String> parts = Arrays.asList(file.split("/", -1));
    if (parts.contains("") || parts.contains(".") || parts.contains("..") || !file.endsWith(suffix)) {
      String ending = suffix.isEmpty() ? "" : " that ends in " + suffix;
      throw fields.wrong(name, "the name of a file within the bundle" + ending);
    }
    return file;
  }
}
