package org.hsvit.benchmark.device;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.robolectric.Shadows.shadowOf;

import android.content.ContentResolver;
import android.graphics.Bitmap;
import android.graphics.Color;
import android.net.Uri;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Base64;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.ModelFiles;
import org.hsvit.benchmark.measure.Picture;
import org.hsvit.benchmark.report.Json;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.GraphicsMode;

/** Pictures and photos, with the pixels that Python computed. */
@RunWith(RobolectricTestRunner.class)
@GraphicsMode(GraphicsMode.Mode.NATIVE)
public class BitmapsTest {
  private static final Uri PHOTO = Uri.parse("content://photos/1");

  private final ContentResolver resolver =
      RuntimeEnvironment.getApplication().getContentResolver();

  private static JSONArray numbers(String part) throws Exception {
    File file = new File("../tests/export/data/phone_numbers.json");
    String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    return new JSONObject(text).getJSONArray(part);
  }

  private static int[] integers(JSONArray values) throws Exception {
    int[] integers = new int[values.length()];
    for (int i = 0; i < integers.length; i++) {
      integers[i] = values.getInt(i);
    }
    return integers;
  }

  private static int[] pixels(Picture picture) {
    int[] pixels = new int[picture.pixels.length];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = picture.pixels[i] & 255;
    }
    return pixels;
  }

  private static Picture decode(byte[] file, int channels) throws IOException {
    return new Bitmaps().decode(new ByteArrayInputStream(file), channels);
  }

  private void serve(byte[] file) {
    shadowOf(resolver).registerInputStreamSupplier(PHOTO, () -> new ByteArrayInputStream(file));
  }

  @Test
  public void picturesAreReadBitForBit() throws Exception {
    JSONArray cases = numbers("resizing");
    for (int i = 0; i < cases.length(); i++) {
      JSONObject given = cases.getJSONObject(i);
      int[] shape = integers(given.getJSONArray("shape"));
      Picture picture = decode(Base64.getDecoder().decode(given.getString("png")), shape[2]);
      assertEquals(shape[0], picture.height);
      assertEquals(shape[1], picture.width);
      assertArrayEquals(integers(given.getJSONArray("pixels")), pixels(picture));
      assertArrayEquals(pixels(picture), pixels(Bitmaps.toPicture(Bitmaps.toBitmap(picture), shape[2])));
    }
  }

  @Test
  public void picturesAreFittedBitForBit() throws Exception {
    JSONArray cases = numbers("resizing");
    for (int i = 0; i < cases.length(); i++) {
      JSONObject given = cases.getJSONObject(i);
      int[] wanted = integers(given.getJSONArray("wanted"));
      JSONObject input = Json.object("dtype", "float32", "range", new int[] {0, 255});
      ModelFile model = ModelFiles.taking(input, wanted[0], wanted[1], wanted[2]);
      serve(Base64.getDecoder().decode(given.getString("png")));
      Bitmap bitmap = Bitmaps.load(resolver, PHOTO, 1000);
      assertArrayEquals(integers(given.getJSONArray("resized")), pixels(Bitmaps.fit(bitmap, model)));
    }
  }

  @Test
  public void photosAreTurnedUpright() throws Exception {
    JSONArray photos = numbers("photos");
    assertEquals(8, photos.length());
    for (int i = 0; i < photos.length(); i++) {
      JSONObject photo = photos.getJSONObject(i);
      serve(Base64.getDecoder().decode(photo.getString("jpeg")));
      Bitmap bitmap = Bitmaps.load(resolver, PHOTO, 1000);
      int[] size = integers(photo.getJSONArray("size"));
      assertEquals(size[0], bitmap.getHeight());
      assertEquals(size[1], bitmap.getWidth());
      int[] rows = {4, 4, size[0] - 4, size[0] - 4};
      int[] columns = {4, size[1] - 4, 4, size[1] - 4};
      for (int corner = 0; corner < 4; corner++) {
        int[] expected = integers(photo.getJSONArray("corners").getJSONArray(corner));
        int colour = bitmap.getPixel(columns[corner], rows[corner]);
        String message = "orientation " + (i + 1) + ", corner " + corner;
        assertEquals(message, expected[0], Color.red(colour), 8);
        assertEquals(message, expected[1], Color.green(colour), 8);
        assertEquals(message, expected[2], Color.blue(colour), 8);
      }
    }
  }

  @Test
  public void largePhotosAreReadSmall() throws Exception {
    serve(Base64.getDecoder().decode(numbers("photos").getJSONObject(0).getString("jpeg")));
    assertEquals(48, Bitmaps.load(resolver, PHOTO, 32).getWidth());
    assertEquals(48, Bitmaps.load(resolver, PHOTO, 17).getWidth());
    assertEquals(24, Bitmaps.load(resolver, PHOTO, 16).getWidth());
    assertEquals(12, Bitmaps.load(resolver, PHOTO, 8).getWidth());
  }

  @Test
  public void whatIsTransparentBecomesWhite() {
    int[] colours = {0x00000000, 0xff102030, 0x80000000};
    Bitmap bitmap = Bitmap.createBitmap(colours, 3, 1, Bitmap.Config.ARGB_8888);
    assertArrayEquals(
        new int[] {255, 255, 255, 16, 32, 48, 127, 127, 127},
        pixels(Bitmaps.toPicture(bitmap, 3)));
  }

  @Test
  public void whatIsNoImageIsRefused() {
    byte[] text = "this is no image".getBytes(StandardCharsets.US_ASCII);
    IOException error = assertThrows(IOException.class, () -> decode(text, 3));
    assertEquals("it is damaged or no image", error.getMessage());
    serve(text);
    error = assertThrows(IOException.class, () -> Bitmaps.load(resolver, PHOTO, 32));
    assertEquals("it is damaged or no image", error.getMessage());
  }

  @Test
  public void aPhotoThatMayNotBeReadIsToldSo() {
    shadowOf(resolver)
        .registerInputStreamSupplier(
            PHOTO,
            () -> {
              throw new SecurityException("not yours");
            });
    IOException error =
        assertThrows(IOException.class, () -> Bitmaps.load(resolver, PHOTO, 32));
    assertEquals("this app may not read content://photos/1", error.getMessage());
  }
}
