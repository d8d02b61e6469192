package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

public class ResizingTest {
  @Test
  public void picturesAreThoseOfPillowBitForBit() throws Exception {
    JSONArray cases = PhoneNumbers.read().getJSONArray("resizing");
    int compared = 0;
    for (int i = 0; i < cases.length(); i++) {
      JSONObject given = cases.getJSONObject(i);
      int[] shape = PhoneNumbers.integers(given.getJSONArray("shape"));
      int[] wanted = PhoneNumbers.integers(given.getJSONArray("wanted"));
      if (shape[2] == wanted[2]) { // gray is made of colour by device.Bitmaps
        Picture picture =
            new Picture(shape[0], shape[1], shape[2], PhoneNumbers.bytes(given.getJSONArray("pixels")));
        assertArrayEquals(
            PhoneNumbers.bytes(given.getJSONArray("resized")),
            Resizing.fit(picture, wanted[0], wanted[1]).pixels);
        compared++;
      }
    }
    assertEquals(4, compared);
  }
}
