package org.hsvit.benchmark.measure;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.json.JSONArray;
import org.json.JSONObject;

/** Numbers that Python computed: {@code tests/export/data/phone_numbers.json}. */
final class PhoneNumbers {
  private PhoneNumbers() {}

  static JSONObject read() throws Exception {
    File file = new File("../tests/export/data/phone_numbers.json");
    return new JSONObject(new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8));
  }

  static double[][] blocks(JSONArray rows) throws Exception {
    double[][] blocks = new double[rows.length()][];
    for (int i = 0; i < blocks.length; i++) {
      JSONArray row = rows.getJSONArray(i);
      blocks[i] = new double[row.length()];
      for (int j = 0; j < row.length(); j++) {
        blocks[i][j] = row.getDouble(j);
      }
    }
    return blocks;
  }

  static float[][] outputs(JSONArray rows) throws Exception {
    double[][] values = blocks(rows);
    float[][] outputs = new float[values.length][];
    for (int i = 0; i < values.length; i++) {
      outputs[i] = new float[values[i].length];
      for (int j = 0; j < values[i].length; j++) {
        outputs[i][j] = (float) values[i][j];
      }
    }
    return outputs;
  }

  static byte[] bytes(JSONArray values) throws Exception {
    byte[] bytes = new byte[values.length()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) values.getInt(i);
    }
    return bytes;
  }

  static int[] integers(JSONArray values) throws Exception {
    int[] integers = new int[values.length()];
    for (int i = 0; i < integers.length; i++) {
      integers[i] = values.getInt(i);
    }
    return integers;
  }
}
