package org.hsvit.benchmark.device;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.report.Json;
import org.hsvit.benchmark.report.WholeFile;
import org.json.JSONObject;
import org.tensorflow.lite.Interpreter;

/** Makes a bundle of {@code .tflite} files that the user adds alone. */
public final class AddedModels {
  private AddedModels() {}

  /**
   * Writes the {@code bundle.json} of files that are in a folder already, and reads it.
   *
   * <p>Shapes and number formats are what the runtime says; there are no images and no reference, so nothing
   * is checked. A file alone is paired with itself: its ratio shows the noise of the phone.
   *
   * @param folder holds the files; its name becomes that of the bundle
   * @param files their names, the original first, then its mobile artifacts
   * @throws ModelException the runtime refuses one
   * @throws BundleException one is no image classifier, or not of the others' image size and classes
   * @throws IOException a file cannot be read, or there is no room
   */
  public static Bundle describe(File folder, List<String> files) throws ModelException, IOException {
    return describe(folder, files, Interpreter::new);
  }

  static Bundle describe(File folder, List<String> files, LoadedModel.Engine engine)
      throws ModelException, IOException {
    FolderSource source = new FolderSource(folder);
    List<JSONObject> models = new ArrayList<>();
    for (String file : files) {
      try (LoadedModel loaded = LoadedModel.load(file, source, Settings.DEFAULT, engine)) {
        byte[] bytes = Contents.read(source, file);
        models.add(model(file, bytes, loaded.input(), loaded.output()));
      }
    }
    JSONObject bundle = bundle(folder.getName(), files, models);
    File file = new File(folder, "bundle.json");
    WholeFile.write(file, Json.text(bundle));
    try {
      return Bundle.read(source);
    } catch (BundleException error) {
      file.delete();
      throw error;
    }
  }

  /** One of a bundle's models. Values of 0..1 are not normalized, for nobody says how. */
  private static JSONObject model(String file, byte[] bytes, Tensor input, Tensor output) {
    return Json.object(
        "file", file,
        "title", file,
        "preset", null,
        "bytes", bytes.length,
        "sha256", Contents.sha256(bytes),
        "input",
            Json.object(
                "shape", input.shape,
                "dtype", input.type.toString(),
                "pixels", false,
                "mean", List.of(0),
                "std", List.of(1),
                "scale", input.scale == 0 ? null : input.scale,
                "zero_point", input.scale == 0 ? null : input.zeroPoint),
        "output",
            Json.object(
                "shape", output.shape,
                "dtype", output.type.toString(),
                "scale", output.scale == 0 ? null : output.scale,
                "zero_point", output.scale == 0 ? null : output.zeroPoint),
        "reference", null,
        "accuracy", null);
  }

  private static JSONObject bundle(String name, List<String> files, List<JSONObject> models) {
    List<JSONObject> pairs = new ArrayList<>();
    for (String mobile : files.size() == 1 ? files : files.subList(1, files.size())) {
      pairs.add(Json.object("name", mobile, "original", files.get(0), "mobile", mobile));
    }
    return Json.object(
        "bundle_version", 1,
        "name", name,
        "runtime", "",
        "class_names", List.of(),
        "images", List.of(),
        "pairs", pairs,
        "models", models);
  }
}
