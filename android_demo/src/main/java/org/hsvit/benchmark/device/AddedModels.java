package org.hsvit.benchmark.device;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.bundle.Task;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Json;
import org.hsvit.benchmark.report.JsonParts;
import org.hsvit.benchmark.report.WholeFile;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.tensorflow.lite.Interpreter;

/** Makes a bundle of {@code .tflite} files that the user adds. */
public final class AddedModels {
  private AddedModels() {}

  /**
   * Writes the {@code bundle.json} of files that are in a folder already, and reads it.
   *
   * <p>Shapes and number formats come from the runtime. There are no images and no reference, so outputs are
   * not checked. A single file is paired with itself: its ratio shows the noise of the phone. Models with one
   * number for each class count as classification.
   *
   * @param folder holds the files; its name becomes that of the bundle
   * @param files their names, the original first, then its mobile artifacts
   * @param range the numbers that black and white pixels have in the models' inputs
   * @throws ModelException the runtime refuses one
   * @throws BundleException one takes no images, or its input or output has another shape than the others'
   * @throws IOException a file cannot be read, or there is no room
   */
  public static Bundle describe(File folder, List<String> files, InputRange range)
      throws ModelException, IOException {
    return describe(folder, files, range, Interpreter::new);
  }

  static Bundle describe(
      File folder, List<String> files, InputRange range, LoadedModel.Engine engine)
      throws ModelException, IOException {
    FolderSource source = new FolderSource(folder);
    List<JSONObject> models = new ArrayList<>();
    Task task = Task.classification();
    for (String file : files) {
      try (LoadedModel loaded = LoadedModel.load(file, source, Settings.DEFAULT, engine)) {
        ByteBuffer bytes = source.map(file);
        List<Tensor> outputs = loaded.outputs();
        models.add(model(file, bytes, loaded.input(), outputs, range));
        task = classifies(outputs) ? task : Task.tensors();
      }
    }
    JSONObject bundle = bundle(folder.getName(), task, files, models);
    File file = new File(folder, "bundle.json");
    WholeFile.write(file, Json.text(bundle));
    try {
      return Bundle.read(source);
    } catch (BundleException error) {
      file.delete();
      throw error;
    }
  }

  /**
   * Gives the classes of a described bundle their names, if its models have as many outputs.
   *
   * @return the bundle, with names or, where they are not for it, as before
   * @throws IOException there is no room
   */
  public static Bundle nameClasses(File folder, List<String> names) throws IOException {
    FolderSource source = new FolderSource(folder);
    Bundle without = Bundle.read(source);
    Tensor output = without.pairs().get(0).original.outputs.get(0);
    if (!without.task().isClassification() || output.shape[1] != names.size()) {
      return without;
    }
    File file = new File(folder, "bundle.json");
    try {
      String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
      JSONObject described = new JSONObject(text).put("class_names", new JSONArray(names));
      WholeFile.write(file, Json.text(described));
    } catch (JSONException error) {
      throw new BundleException("bundle.json: " + error.getMessage());
    }
    return Bundle.read(source);
  }

  private static boolean classifies(List<Tensor> outputs) {
    int[] shape = outputs.get(0).shape;
    return outputs.size() == 1 && shape.length == 2 && shape[1] > 1;
  }

  private static JSONObject model(
      String file, ByteBuffer bytes, Tensor input, List<Tensor> outputs, InputRange range) {
    return Json.object(
        "file", file,
        "title", file,
        "preset", null,
        "bytes", bytes.capacity(),
        "sha256", Contents.sha256(bytes),
        "input", JsonParts.input(input, range),
        "outputs", JsonParts.tensors(outputs),
        "reference", null,
        "metrics", new JSONObject());
  }

  private static JSONObject bundle(
      String name, Task task, List<String> files, List<JSONObject> models) {
    List<JSONObject> pairs = new ArrayList<>();
    for (String mobile : files.size() == 1 ? files : files.subList(1, files.size())) {
      pairs.add(Json.object("name", mobile, "original", files.get(0), "mobile", mobile));
    }
    return Json.object(
        "bundle_version", Bundle.VERSION,
        "task", JsonParts.task(task),
        "detection", null,
        "name", name,
        "runtime", "",
        "class_names", List.of(),
        "images", List.of(),
        "pairs", pairs,
        "models", models);
  }
}
