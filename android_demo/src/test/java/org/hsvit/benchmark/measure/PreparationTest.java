package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.report.Json;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

public class PreparationTest {
  /** All pixels, with several ranges and every number format. */
  @Test
  public void inputsAreThoseOfPythonBitForBit() throws Exception {
    JSONArray cases = PhoneNumbers.read().getJSONArray("preparation");
    assertEquals(8, cases.length());
    for (int i = 0; i < cases.length(); i++) {
      JSONObject input = cases.getJSONObject(i).getJSONObject("input");
      ModelFile model = ModelFiles.taking(input, 1, 256, 1);
      byte[] pixels = new byte[256];
      for (int at = 0; at < pixels.length; at++) {
        pixels[at] = (byte) at;
      }
      ByteBuffer prepared = Preparation.prepare(new Picture(1, 256, 1, pixels), model);
      assertTrue(prepared.isDirect());
      assertEquals(0, prepared.position());
      assertArrayEquals(
          input.toString(),
          PhoneNumbers.integers(cases.getJSONObject(i).getJSONArray("prepared")),
          numbers(prepared, model.input.type));
    }
  }

  private static int[] numbers(ByteBuffer prepared, Tensor.Type type) {
    int[] numbers = new int[prepared.capacity() / type.bytes];
    for (int i = 0; i < numbers.length; i++) {
      switch (type) {
        case FLOAT32:
          numbers[i] = Float.floatToRawIntBits(prepared.getFloat(4 * i));
          break;
        case UINT8:
          numbers[i] = prepared.get(i) & 255;
          break;
        default:
          numbers[i] = prepared.get(i);
      }
    }
    return numbers;
  }

  @Test
  public void allChannelsHaveTheSameRange() throws Exception {
    JSONObject input = Json.object("dtype", "float32", "scale", null, "zero_point", null);
    ModelFile model = ModelFiles.taking(input.put("range", new JSONArray(List.of(-1, 1))), 1, 1, 3);
    byte[] pixels = {0, 51, (byte) 255};
    ByteBuffer prepared = Preparation.prepare(new Picture(1, 1, 3, pixels), model);
    assertEquals(-1, prepared.getFloat(0), 0);
    assertEquals(-0.6, prepared.getFloat(4), 1e-6);
    assertEquals(1, prepared.getFloat(8), 1e-6);
  }

  @Test
  public void aPictureOfAnotherSizeIsRefused() throws Exception {
    ModelFile model = new FakePhone().bundle().model(FakePhone.ORIGINAL);
    IllegalArgumentException error =
        assertThrows(
            IllegalArgumentException.class,
            () -> Preparation.prepare(new Picture(4, 5, 1, new byte[20]), model));
    assertEquals(
        "a picture of 4 x 5 x 1 does not fit original.tflite, which takes 4 x 4 x 1", error.getMessage());
  }

  @Test
  public void integersAreDequantized() {
    ByteBuffer output = ByteBuffer.wrap(new byte[] {-128, 0, 127});
    int[] shape = {1, 3};
    assertArrayEquals(
        new float[] {-59f, 5f, 68.5f},
        Decoding.decode(output, new Tensor("output", shape, Tensor.Type.INT8, 0.5f, -10)),
        0);
    assertArrayEquals(
        new float[] {64f, 0f, 63.5f},
        Decoding.decode(output, new Tensor("output", shape, Tensor.Type.UINT8, 0.5f, 0)),
        0);
    assertArrayEquals(
        new float[] {128f, 0f, 127f},
        Decoding.decode(output, new Tensor("output", shape, Tensor.Type.UINT8, 0, 0)),
        0);
  }

  @Test
  public void floatsAreReadFromTheStart() {
    ByteBuffer output = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
    output.putFloat(1.5f).putFloat(-2f);
    Tensor tensor = new Tensor("output", new int[] {1, 2}, Tensor.Type.FLOAT32, 0, 0);
    assertArrayEquals(new float[] {1.5f, -2f}, Decoding.decode(output, tensor), 0);
  }
}
