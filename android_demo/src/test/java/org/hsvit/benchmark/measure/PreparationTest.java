package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

public class PreparationTest {
  /** All brightnesses, with every way of normalizing and every number format. */
  @Test
  public void picturesAreThoseOfPythonBitForBit() throws Exception {
    JSONArray cases = PhoneNumbers.read().getJSONArray("preparation");
    assertEquals(7, cases.length());
    for (int i = 0; i < cases.length(); i++) {
      JSONObject input = cases.getJSONObject(i).getJSONObject("input");
      int channels = input.getJSONArray("mean").length();
      ModelFile model = ModelFiles.taking(input, 1, 256, channels);
      byte[] pixels = new byte[256 * channels];
      for (int at = 0; at < pixels.length; at++) {
        pixels[at] = (byte) (at / channels);
      }
      ByteBuffer prepared = Preparation.prepare(new Picture(1, 256, channels, pixels), model);
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
  public void aPictureOfAnotherSizeIsRefused() throws Exception {
    ModelFile model = new FakePhone().bundle().model(FakePhone.ORIGINAL);
    IllegalArgumentException error =
        assertThrows(
            IllegalArgumentException.class,
            () -> Preparation.prepare(new Picture(4, 5, 1, new byte[20]), model));
    assertEquals(
        "a picture of 4 x 5 x 1 is not what original.tflite takes, 4 x 4 x 1", error.getMessage());
  }

  @Test
  public void levelsStandForTheirDistanceFromTheZeroPoint() {
    ByteBuffer output = ByteBuffer.wrap(new byte[] {-128, 0, 127});
    int[] shape = {1, 3};
    assertArrayEquals(
        new float[] {-59f, 5f, 68.5f},
        Decoding.decode(output, new Tensor(shape, Tensor.Type.INT8, 0.5f, -10)),
        0);
    assertArrayEquals(
        new float[] {64f, 0f, 63.5f},
        Decoding.decode(output, new Tensor(shape, Tensor.Type.UINT8, 0.5f, 0)),
        0);
    assertArrayEquals(
        new float[] {128f, 0f, 127f},
        Decoding.decode(output, new Tensor(shape, Tensor.Type.UINT8, 0, 0)),
        0);
  }

  @Test
  public void floatsAreReadFromTheStart() {
    ByteBuffer output = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
    output.putFloat(1.5f).putFloat(-2f);
    Tensor tensor = new Tensor(new int[] {1, 2}, Tensor.Type.FLOAT32, 0, 0);
    assertArrayEquals(new float[] {1.5f, -2f}, Decoding.decode(output, tensor), 0);
  }
}
