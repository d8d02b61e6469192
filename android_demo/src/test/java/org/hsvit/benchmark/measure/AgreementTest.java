package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.report.Json;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

/** Agreements of outputs, and boxes of detectors, are those of Python. */
public class AgreementTest {
  private static final double EXACT = 0;
  private static final double SUMMED = 1e-12; // sums are rounded in another order
  private static final double FLOAT = 1e-6; // Python computes scores and boxes in 32 bits

  /** A bundle without images of models with these outputs. */
  private static Bundle bundle(String task, Object detection, JSONArray outputs) throws Exception {
    FakePhone phone = new FakePhone();
    phone.described.getJSONObject("task").put("name", task);
    phone.described.put("detection", detection).put("images", new JSONArray());
    phone.described.put("class_names", new JSONArray());
    for (int i = 0; i < outputs.length(); i++) {
      outputs.getJSONObject(i).put("dtype", "float32");
    }
    for (int i = 0; i < 3; i++) {
      JSONObject model = phone.described.getJSONArray("models").getJSONObject(i);
      model.put("outputs", outputs).put("reference", JSONObject.NULL);
    }
    return phone.bundle();
  }

  private static void assertAgreement(JSONObject expected, String name, Agreement found) throws Exception {
    assertEquals(expected.getInt("samples"), found.samples);
    assertEquals(expected.getDouble(name), found.same, EXACT);
    assertEquals(expected.getDouble("max_abs_diff"), found.maxAbsDiff, EXACT);
    assertEquals(expected.getDouble("cosine"), found.cosine, SUMMED);
  }

  @Test
  public void theAgreementOfClassesIsThatOfPython() throws Exception {
    JSONObject given = PhoneNumbers.read().getJSONObject("agreement");
    float[][] expected = PhoneNumbers.outputs(given.getJSONArray("expected"));
    float[][] outputs = PhoneNumbers.outputs(given.getJSONArray("outputs"));
    JSONArray tensors = new JSONArray("[{\"name\": \"logits\", \"shape\": [1, 5]}]");
    for (String task : List.of("classification", "video_classification")) {
      Bundle bundle = bundle(task, JSONObject.NULL, tensors);
      Agreement found = Checks.agreement(bundle, bundle.model(FakePhone.INT8), expected, outputs);
      assertAgreement(given.getJSONObject("agreement"), "top1_agreement", found);
    }
  }

  @Test
  public void boxesAndTheirAgreementAreThoseOfPython() throws Exception {
    JSONArray cases = PhoneNumbers.read().getJSONArray("detections");
    assertEquals(3, cases.length());
    for (int i = 0; i < cases.length(); i++) {
      JSONObject given = cases.getJSONObject(i);
      Bundle bundle = bundle("detection", given.get("rule"), given.getJSONArray("outputs"));
      ModelFile model = bundle.model(FakePhone.ORIGINAL);
      float[][] expected = PhoneNumbers.outputs(given.getJSONArray("rows").getJSONArray(0));
      float[][] outputs = PhoneNumbers.outputs(given.getJSONArray("rows").getJSONArray(1));
      Agreement found = Checks.agreement(bundle, model, expected, outputs);
      assertAgreement(given.getJSONObject("agreement"), "detection_agreement", found);
      for (int image = 0; image < expected.length; image++) {
        List<Detections.Box> kept = new Detections(bundle.detection(), model).kept(expected[image]);
        assertKept(given.getJSONArray("kept").getJSONArray(image), kept);
      }
    }
  }

  private static void assertKept(JSONArray expected, List<Detections.Box> kept) throws Exception {
    assertEquals(expected.length(), kept.size());
    for (int i = 0; i < kept.size(); i++) {
      JSONObject right = expected.getJSONObject(i);
      Detections.Box box = kept.get(i);
      assertEquals(right.getInt("class"), box.index);
      assertEquals(right.getDouble("score"), box.score, FLOAT);
      for (int side = 0; side < 4; side++) {
        assertEquals(right.getJSONArray("box").getDouble(side), box.sides[side], FLOAT);
      }
    }
  }

  @Test
  public void withoutBoxesTwoDetectorsAgree() throws Exception {
    FakePhone phone = new FakePhone();
    phone.detect();
    Bundle bundle = phone.bundle();
    float[][] nothing = new float[1][21];
    Arrays.fill(nothing[0], -9);
    assertEquals(1, Checks.agreement(bundle, bundle.model(FakePhone.INT8), nothing, nothing).same, EXACT);
    assertNull(Checks.agreement(bundle, bundle.model(FakePhone.INT8), new float[0][], new float[0][]));
  }

  /** A reference check of a model whose best boxes are chosen inside of the file. */
  private static boolean isRight(float... row) throws Exception {
    FakePhone phone = new FakePhone();
    phone.detect();
    JSONObject rule = phone.described.getJSONObject("detection");
    rule.put("scores", "score").put("boxes", "location").put("classes", "category");
    rule.put("box_format", "top_left_bottom_right");
    List<JSONObject> outputs = new ArrayList<>();
    List<JSONObject> parts = new ArrayList<>();
    String[] names = {"category", "location", "score"};
    int[][] shapes = {{1, 2}, {1, 2, 4}, {1, 2}};
    int[] offsets = {0, 2, 10};
    for (int i = 0; i < names.length; i++) {
      outputs.add(Json.object("name", names[i], "shape", shapes[i], "dtype", "float32"));
      Double limit = i == 2 ? 0.01 : null;
      parts.add(Json.object("name", names[i], "offset", offsets[i], "max_abs_diff", limit));
    }
    for (int i = 0; i < 3; i++) {
      JSONObject model = phone.described.getJSONArray("models").getJSONObject(i);
      model.put("outputs", new JSONArray(outputs));
      JSONObject reference = model.getJSONObject("reference").put("outputs", new JSONArray(parts));
      reference.put("bytes", 4 * 12 * 10);
    }
    Bundle bundle = phone.bundle();
    float[][] correct = {{3, 4, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 0.9f, 0.9f}};
    ModelFile model = bundle.model(FakePhone.ORIGINAL);
    return Checks.compare(bundle.detection(), model, correct, new float[][] {row}).isRight();
  }

  @Test
  public void whereBoxesMayChangePlacesThoseThatAreKeptHaveToBeTheSame() throws Exception {
    assertTrue(isRight(4, 3, 0.5f, 0.5f, 1, 1, 0, 0, 0.5f, 0.5f, 0.9f, 0.9f));
    assertFalse(isRight(4, 3, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 0.9f, 0.9f));
    assertFalse(isRight(3, 4, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, 1, 1, 0.9f, 0.5f));
  }

  @Test
  public void overlapsByTheirDefinition() {
    assertEquals(1.0 / 3, Detections.iou(new float[] {0, 0, 2, 1}, new float[] {1, 0, 3, 1}), 1e-9);
    assertEquals(0, Detections.iou(new float[] {0, 0, 1, 1}, new float[] {2, 2, 3, 3}), EXACT);
    assertEquals(0, Detections.iou(new float[] {1, 1, 1, 1}, new float[] {1, 1, 1, 1}), EXACT);
  }
}
