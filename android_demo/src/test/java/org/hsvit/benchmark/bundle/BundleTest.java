package org.hsvit.benchmark.bundle;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.measure.FakePhone;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class BundleTest {
  private static final String[] FIELDS = {
    "bundle_version", "task", "name", "runtime", "class_names", "images", "models", "pairs"
  };

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static String text() {
    return new FakePhone().described.toString();
  }

  private static Bundle read(String text) throws IOException {
    return Bundle.read(file -> new ByteArrayInputStream(text.getBytes("UTF-8")));
  }

  /** Puts a value, written as JSON, where a path leads. */
  private static String changed(String path, String json) throws Exception {
    JSONObject bundle = new JSONObject(text());
    Object place = bundle;
    String[] steps = path.split("\\.");
    for (int i = 0; i < steps.length - 1; i++) {
      place = step(place, steps[i]);
    }
    String last = steps[steps.length - 1];
    if (place instanceof JSONArray) {
      ((JSONArray) place).put(Integer.parseInt(last), "@");
    } else {
      ((JSONObject) place).put(last, "@");
    }
    return bundle.toString().replace("\"@\"", json);
  }

  private static Object step(Object place, String name) throws Exception {
    return place instanceof JSONArray
        ? ((JSONArray) place).get(Integer.parseInt(name))
        : ((JSONObject) place).get(name);
  }

  private static void assertRefused(String path, String json, String message) throws Exception {
    String text = changed(path, json);
    BundleException error = assertThrows(path, BundleException.class, () -> read(text));
    assertTrue(error.getMessage(), error.getMessage().equals("bundle.json: " + message));
  }

  @Test
  public void allFieldsAreRead() throws Exception {
    Bundle bundle = read(text());
    assertEquals("sums", bundle.name());
    assertEquals("classification", bundle.task().name);
    assertEquals("accuracy", bundle.task().metric.name);
    assertEquals("Same class", bundle.task().agreement.title);
    assertTrue(bundle.task().agreement.isShare);
    assertEquals("2.16", bundle.runtime());
    assertEquals(List.of("zero", "one", "two"), bundle.classNames());
    assertEquals(10, bundle.images().size());
    assertEquals("images/0.png", bundle.images().get(0).file);
    assertTrue(bundle.images().get(0).label < 3);
    assertEquals(2, bundle.pairs().size());
    ModelFile model = bundle.model("int8.tflite");
    assertSame(model, bundle.pair("int8").mobile);
    assertEquals("the int8.tflite", model.title);
    assertNull(model.preset);
    assertEquals(22, model.bytes);
    assertArrayEquals(new int[] {1, 4, 4, 1}, model.input.shape);
    assertEquals(Tensor.Type.FLOAT32, model.input.type);
    assertEquals(0, model.input.scale, 0);
    assertEquals("image", model.input.name);
    assertEquals(-2, model.range.low, 0);
    assertEquals(2, model.range.high, 0);
    assertEquals("logits", model.outputs.get(0).name);
    assertArrayEquals(new int[] {1, 3}, model.outputs.get(0).shape);
    assertEquals(3, model.rowSize());
    assertArrayEquals(new Double[] {0.001}, model.reference.limits);
    assertNull(bundle.detection());
    assertFalse(model.takesClips());
    assertEquals(Map.of("accuracy", 0.97), model.metrics);
  }

  @Test
  public void outputsMayHaveMoreAxes() throws Exception {
    FakePhone phone = new FakePhone();
    phone.segment();
    Bundle bundle = read(phone.described.toString());
    assertEquals("segmentation", bundle.task().name);
    assertArrayEquals(new int[] {1, 1, 1, 3}, bundle.model("int8.tflite").outputs.get(0).shape);
    assertEquals(3, bundle.model("int8.tflite").rowSize());
    assertNull(bundle.images().get(0).label);
  }

  @Test
  public void correctOutputsAreReadFromTheirFile() throws Exception {
    FakePhone phone = new FakePhone();
    Bundle bundle = phone.bundle();
    ByteBuffer file = ByteBuffer.wrap(phone.files.get("int8.bin")).order(ByteOrder.LITTLE_ENDIAN);
    float[][] rows = bundle.model("int8.tflite").reference.read(phone);
    assertEquals(10, rows.length);
    for (float[] row : rows) {
      assertArrayEquals(new float[] {file.getFloat(), file.getFloat(), file.getFloat()}, row, 0);
    }
    phone.files.put("int8.bin", new byte[119]);
    assertEquals(
        "int8.bin holds 119 bytes, bundle.json says 120",
        assertThrows(BundleException.class, () -> bundle.model("int8.tflite").reference.read(phone))
            .getMessage());
  }

  @Test
  public void aDetectorHasPartsOfARowAndARule() throws Exception {
    FakePhone phone = new FakePhone();
    phone.detect();
    Bundle bundle = read(phone.described.toString());
    ModelFile model = bundle.model("int8.tflite");
    Part logits = model.part("logits");
    assertArrayEquals(new int[] {12, 21, 3}, new int[] {logits.start, logits.end, logits.last});
    assertNull(model.part("other"));
    assertEquals(0.5, bundle.detection().scoreThreshold, 0);
    assertNull(bundle.detection().classes);
    assertNull(bundle.detection().suppressionIou);
    assertEquals(Detection.BoxFormat.CENTER_SIZE, bundle.detection().boxFormat);
  }

  private static String detector(String name, Object value) throws Exception {
    FakePhone phone = new FakePhone();
    phone.detect();
    phone.described.getJSONObject("detection").put(name, value);
    String text = phone.described.toString();
    return assertThrows(BundleException.class, () -> read(text)).getMessage();
  }

  @Test
  public void aWrongRuleIsNamed() throws Exception {
    assertEquals(
        "bundle.json: detection.box_format is corners, it must be center_size or top_left_bottom_right",
        detector("box_format", "corners"));
    assertEquals(
        "bundle.json: detection.score_threshold is 2, it must be from 0 to 1",
        detector("score_threshold", 2));
    String missing = detector("scores", "score");
    assertTrue(missing, missing.endsWith("it must be such as detection names: score among them"));
    String unfit = detector("boxes", "logits");
    assertTrue(unfit, unfit.endsWith("boxes [1, boxes, 4] and scores of as many boxes, see detection"));
  }

  @Test
  public void clipsHaveFrames() throws Exception {
    FakePhone phone = new FakePhone();
    phone.film();
    ModelFile model = read(phone.described.toString()).model("int8.tflite");
    assertTrue(model.takesClips());
    assertArrayEquals(new int[] {2, 4, 4}, new int[] {model.frames(), model.height(), model.width()});
  }

  @Test
  public void gridsAreRead() throws Exception {
    String text = changed("models.0.input.dtype", "\"int8\"");
    JSONObject bundle = new JSONObject(text);
    JSONObject input = bundle.getJSONArray("models").getJSONObject(0).getJSONObject("input");
    input.put("scale", 0.25).put("zero_point", -128);
    Tensor tensor = read(bundle.toString()).model("original.tflite").input;
    assertEquals(Tensor.Type.INT8, tensor.type);
    assertEquals(0.25f, tensor.scale, 0);
    assertEquals(-128, tensor.zeroPoint);
  }

  @Test
  public void unknownValuesMayBeNull() throws Exception {
    assertNull(read(changed("images.0.label", "null")).images().get(0).label);
    assertEquals(Map.of(), read(changed("models.0.metrics", "{}")).model("original.tflite").metrics);
    Task task = read(changed("task", "{\"name\": \"tensors\"}")).task();
    assertNull(task.metric);
    assertNull(task.agreement);
    assertNull(read(changed("models.0.reference", "null")).model("original.tflite").reference);
    assertEquals("int8", read(changed("models.0.preset", "\"int8\"")).model("original.tflite").preset);
  }

  @Test
  public void aMissingFieldIsNamed() throws Exception {
    for (String field : FIELDS) {
      JSONObject bundle = new JSONObject(text());
      bundle.remove(field);
      BundleException error =
          assertThrows(field, BundleException.class, () -> read(bundle.toString()));
      assertTrue(
          error.getMessage(),
          error.getMessage().startsWith("bundle.json: " + field + " is missing, it must be "));
    }
  }

  @Test
  public void aWrongValueIsNamedWithWhatWouldBeRight() throws Exception {
    assertRefused(
        "bundle_version",
        "2",
        "bundle_version is 2, it must be 3: make the bundle again with export.bundle");
    assertRefused("task.name", "null", "task.name is null, it must be a text");
    assertRefused("task.metric", "7", "task.metric is 7, it must be an object");
    assertRefused(
        "task.metric.is_share", "1", "task.metric.is_share is 1, it must be true or false");
    assertRefused("name", "7", "name is 7, it must be a text");
    assertRefused("class_names", "[1]", "class_names[0] is 1, it must be a text");
    assertRefused("images", "{}", "images is {}, it must be a list of objects");
    assertRefused("images.3", "5", "images[3] is 5, it must be an object");
    assertRefused(
        "images.3.label", "3", "images[3].label is 3, it must be an integer from 0 to 2");
    assertRefused(
        "images.3.label", "1.5", "images[3].label is 1.5, it must be an integer from 0 to 2");
    assertRefused(
        "models.1.bytes", "0", "models[1].bytes is 0, it must be an integer from 1 to 2147483647");
    assertRefused(
        "models.1.sha256", "\"12\"", "models[1].sha256 is 12, it must be 64 hexadecimal digits");
    assertRefused("models.1.metrics", "0.5", "models[1].metrics is 0.5, it must be an object");
    assertRefused(
        "models.1.metrics.accuracy",
        "null",
        "models[1].metrics.accuracy is null, it must be a number");
    assertRefused("models.1.title", "null", "models[1].title is null, it must be a text");
  }

  @Test
  public void aWrongInputOrOutputIsNamed() throws Exception {
    assertRefused(
        "models.0.input.dtype",
        "\"float16\"",
        "models[0].input.dtype is float16, it must be one of [float32, int8, uint8]");
    assertRefused(
        "models.0.input.shape",
        "[2, 4, 4, 1]",
        "models[0].input.shape is [2,4,4,1], it must be [1, height, width, channels], "
            + "with frames behind the 1 of clips");
    assertRefused(
        "models.0.input.shape",
        "[1, 4, 4, 2]",
        "models[0].input.shape is [1,4,4,2], it must be [1, height, width, 1 or 3], "
            + "with frames behind the 1 of clips");
    assertRefused(
        "models.1.input.shape",
        "[1, 5, 4, 1]",
        "models[1].input.shape is [1,5,4,1], it must be the same as that of original.tflite");
    String range = "it must be two different numbers, those of a black and of a white pixel";
    assertRefused("models.0.input.range", "[0]", "models[0].input.range is [0], " + range);
    assertRefused("models.0.input.range", "[1, 1]", "models[0].input.range is [1,1], " + range);
    assertRefused(
        "models.0.input.range", "null", "models[0].input.range is null, it must be a list of numbers");
    assertRefused("models.0.input.name", "1", "models[0].input.name is 1, it must be a text");
    assertRefused(
        "models.0.input.scale", "-1", "models[0].input.scale is -1, it must be positive, or null");
    assertRefused(
        "models.0.outputs.0.shape",
        "[1, 4]",
        "models[0].outputs[0].shape is [1,4], it must be [1, ..., 3], one for each of class_names");
    String ranks = "it must be [1, ...] with 1 to 4 axes";
    assertRefused("models.0.outputs.0.shape", "[]", "models[0].outputs[0].shape is [], " + ranks);
    assertRefused(
        "models.0.outputs.0.shape", "[1, 1, 1, 1, 3]", "models[0].outputs[0].shape is [1,1,1,1,3], " + ranks);
    assertRefused("models.0.outputs.0.shape", "[2, 3]", "models[0].outputs[0].shape is [2,3], " + ranks);
    assertRefused(
        "models.0.outputs", "[]", "models[0].outputs is [], it must be at least one output");
    assertRefused("models.0.outputs", "{}", "models[0].outputs is {}, it must be a list of objects");
  }

  @Test
  public void aWrongReferenceIsNamed() throws Exception {
    String part = "models.0.reference.outputs.0.";
    String named = "models[0].reference.outputs[0].";
    assertRefused("models.0.reference.bytes", "8", "models[0].reference.bytes is 8, it must be 120");
    assertRefused(
        "models.0.reference.outputs",
        "[]",
        "models[0].reference.outputs is [], it must be one entry for each of the model's outputs");
    assertRefused(part + "offset", "1", named + "offset is 1, it must be 0");
    assertRefused(
        part + "name", "\"x\"", named + "name is x, it must be that of the model's output, logits");
    assertRefused(
        part + "max_abs_diff", "-1", named + "max_abs_diff is -1, it must be at least 0, or null");
    assertRefused(
        "models.0.reference.file",
        "\"../x.bin\"",
        "models[0].reference.file is ../x.bin, it must be the name of a file in the bundle that ends in .bin");
    for (String limit : new String[] {"NaN", "1e999"}) { // which no difference is greater than
      String text = changed(part + "max_abs_diff", limit);
      assertThrows(BundleException.class, () -> read(text));
    }
  }

  @Test
  public void wrongPairsAreNamed() throws Exception {
    assertRefused(
        "pairs.0.mobile",
        "\"other.tflite\"",
        "pairs[0].mobile is other.tflite, it must be one of models: "
            + "original.tflite, int8.tflite, dynamic.tflite");
    assertRefused(
        "pairs.1.name", "\"int8\"", "pairs[1].name is int8, it must be unique and not empty");
    assertRefused("pairs", "[]", "pairs is [], it must be at least one pair");
    assertRefused(
        "models.1.file",
        "\"original.tflite\"",
        "models[1].file is original.tflite, it must be unique");
  }

  @Test
  public void noFileIsOutsideOfTheBundle() throws Exception {
    String right = "it must be the name of a file in the bundle";
    assertRefused("images.0.file", "\"/etc/x\"", "images[0].file is /etc/x, " + right);
    assertRefused("images.0.file", "\"../x\"", "images[0].file is ../x, " + right);
    assertRefused("images.0.file", "\"\"", "images[0].file is , " + right);
    assertRefused(
        "models.0.file", "\"a/../../b.tflite\"",
        "models[0].file is a/../../b.tflite, " + right + " that ends in .tflite");
    assertRefused(
        "models.0.file", "\"m.bin\"", "models[0].file is m.bin, " + right + " that ends in .tflite");
  }

  @Test
  public void longValuesAreCut() throws Exception {
    String name = "x".repeat(300);
    assertRefused(
        "models.0.sha256",
        "\"" + name + "\"",
        "models[0].sha256 is " + "x".repeat(80) + "..., it must be 64 hexadecimal digits");
  }

  @Test
  public void whatIsNoJsonIsRefused() {
    for (String text : new String[] {"", "{", "[1]", "nonsense"}) {
      BundleException error = assertThrows(BundleException.class, () -> read(text));
      assertTrue(error.getMessage(), error.getMessage().startsWith("bundle.json is no JSON object: "));
    }
  }

  @Test
  public void unknownNamesAreRefusedWithTheKnownOnes() throws Exception {
    Bundle bundle = read(text());
    assertEquals(
        "bundle sums has no pair int4, it has int8, dynamic",
        assertThrows(BundleException.class, () -> bundle.pair("int4")).getMessage());
    assertEquals(
        "bundle sums has no model int4.tflite",
        assertThrows(BundleException.class, () -> bundle.model("int4.tflite")).getMessage());
  }

  @Test
  public void aFolderIsASource() throws Exception {
    File file = folder.newFile("bundle.json");
    Files.write(file.toPath(), text().getBytes("UTF-8"));
    byte[] content = "content of int8.tflite".getBytes("UTF-8");
    Files.write(new File(folder.getRoot(), "int8.tflite").toPath(), content);
    Bundle bundle = Bundle.read(new FolderSource(folder.getRoot()));
    assertArrayEquals(content, Contents.read(bundle.source(), "int8.tflite"));
    Contents.check(bundle.model("int8.tflite"), bundle.source());
    assertThrows(
        IOException.class,
        () -> Contents.check(bundle.model("original.tflite"), bundle.source()));
    Files.delete(file.toPath());
    assertEquals(
        "cannot read bundle.json: there is no such file",
        assertThrows(IOException.class, () -> Bundle.read(bundle.source())).getMessage());
  }

  @Test
  public void sha256IsThatOfTheStandard() throws Exception {
    assertEquals(
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // FIPS 180-2, B.1
        Contents.sha256("abc".getBytes("UTF-8")));
  }
}
