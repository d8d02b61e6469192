package org.hsvit.benchmark.measure;

import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.report.Json;
import org.json.JSONObject;

/** Models with other inputs than those of {@link FakePhone}. */
public final class ModelFiles {
  private ModelFiles() {}

  /** A model for pictures of a size, with an input that is described as in a bundle. */
  public static ModelFile taking(JSONObject input, int height, int width, int channels) throws Exception {
    FakePhone phone = new FakePhone();
    JSONObject model = phone.described.getJSONArray("models").getJSONObject(0);
    input.put("name", "image");
    input.put("shape", Json.object("s", new int[] {1, height, width, channels}).getJSONArray("s"));
    model.put("input", input);
    phone.described.put("models", Json.object("m", new Object[] {model}).getJSONArray("m"));
    JSONObject pair = Json.object("name", "p", "original", FakePhone.ORIGINAL, "mobile", FakePhone.ORIGINAL);
    phone.described.put("pairs", Json.object("p", new Object[] {pair}).getJSONArray("p"));
    return phone.bundle().model(FakePhone.ORIGINAL);
  }
}
