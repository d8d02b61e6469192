package org.hsvit.benchmark.device;

import android.content.ContentResolver;
import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import android.graphics.Color;
import android.graphics.Matrix;
import android.media.ExifInterface;
import android.net.Uri;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Picture;
import org.hsvit.benchmark.measure.PictureDecoder;
import org.hsvit.benchmark.measure.Resizing;

/**
 * Turns Android's bitmaps into pictures for models, as {@code data_sets/images.py} does.
 *
 * <p>Equal to Python bit for bit: an 8-bit PNG without a colour profile, gray computed from colour, cropping
 * and resizing. Not equal: the last bits of a JPEG (another decoder), photos with a colour profile (here
 * converted to sRGB, there used unchanged), and 16-bit gray.
 */
public final class Bitmaps implements PictureDecoder {
  @Override
  public Picture decode(InputStream file, int channels) throws IOException {
    return toPicture(decode(file, new BitmapFactory.Options()), channels);
  }

  /**
   * Decodes a photo upright, and no larger than needed.
   *
   * @param leastSide least size of its shorter side, pixels
   * @throws IOException it cannot be read or is no image
   */
  public static Bitmap load(ContentResolver resolver, Uri photo, int leastSide) throws IOException {
    BitmapFactory.Options options = new BitmapFactory.Options();
    options.inJustDecodeBounds = true;
    try (InputStream stream = open(resolver, photo)) {
      BitmapFactory.decodeStream(stream, null, options);
    }
    options.inJustDecodeBounds = false;
    int side = Math.min(options.outWidth, options.outHeight);
    options.inSampleSize = Math.max(1, Integer.highestOneBit(side / leastSide));
    Bitmap bitmap;
    try (InputStream stream = open(resolver, photo)) {
      bitmap = decode(stream, options);
    }
    try (InputStream stream = open(resolver, photo)) {
      return upright(bitmap, new ExifInterface(stream));
    }
  }

  private static InputStream open(ContentResolver resolver, Uri photo) throws IOException {
    try {
      InputStream stream = resolver.openInputStream(photo);
      if (stream != null) {
        return stream;
      }
    } catch (SecurityException error) {
      throw new IOException("this app may not read " + photo, error);
    }
    throw new FileNotFoundException("there is no " + photo);
  }

  private static Bitmap decode(InputStream stream, BitmapFactory.Options options) throws IOException {
    options.inScaled = false;
    options.inPreferredConfig = Bitmap.Config.ARGB_8888;
    Bitmap bitmap = BitmapFactory.decodeStream(stream, null, options);
    if (bitmap == null) {
      throw new IOException("it is damaged or no image");
    }
    return bitmap;
  }

  private static Bitmap upright(Bitmap bitmap, ExifInterface exif) {
    Matrix matrix = new Matrix();
    switch (exif.getAttributeInt(ExifInterface.TAG_ORIENTATION, ExifInterface.ORIENTATION_NORMAL)) {
      case ExifInterface.ORIENTATION_FLIP_HORIZONTAL:
        matrix.setScale(-1, 1);
        break;
      case ExifInterface.ORIENTATION_ROTATE_180:
        matrix.setRotate(180);
        break;
      case ExifInterface.ORIENTATION_FLIP_VERTICAL:
        matrix.setScale(1, -1);
        break;
      case ExifInterface.ORIENTATION_TRANSPOSE:
        matrix.setRotate(90);
        matrix.postScale(-1, 1);
        break;
      case ExifInterface.ORIENTATION_ROTATE_90:
        matrix.setRotate(90);
        break;
      case ExifInterface.ORIENTATION_TRANSVERSE:
        matrix.setRotate(-90);
        matrix.postScale(-1, 1);
        break;
      case ExifInterface.ORIENTATION_ROTATE_270:
        matrix.setRotate(-90);
        break;
      default:
        return bitmap;
    }
    return Bitmap.createBitmap(bitmap, 0, 0, bitmap.getWidth(), bitmap.getHeight(), matrix, false);
  }

  /** A bitmap at the size of a model's input: cropped at the centre and resized. */
  public static Picture fit(Bitmap bitmap, ModelFile model) {
    Picture colour = Resizing.fit(toPicture(bitmap, 3), model.height(), model.width());
    return model.channels() == 3 ? colour : gray(colour);
  }

  /** A picture for the screen. */
  public static Bitmap toBitmap(Picture picture) {
    int[] colours = new int[picture.height * picture.width];
    for (int i = 0; i < colours.length; i++) {
      int at = i * picture.channels;
      int last = at + picture.channels - 1;
      int middle = (at + last) / 2;
      colours[i] =
          Color.rgb(
              picture.pixels[at] & 255, picture.pixels[middle] & 255, picture.pixels[last] & 255);
    }
    return Bitmap.createBitmap(colours, picture.width, picture.height, Bitmap.Config.ARGB_8888);
  }

  /** The pixels of a bitmap, on a white background. */
  static Picture toPicture(Bitmap bitmap, int channels) {
    int height = bitmap.getHeight();
    int width = bitmap.getWidth();
    int[] colours = new int[height * width];
    bitmap.getPixels(colours, 0, width, 0, 0, width, height);
    byte[] pixels = new byte[3 * colours.length];
    for (int i = 0; i < colours.length; i++) {
      int alpha = Color.alpha(colours[i]);
      pixels[3 * i] = onWhite(Color.red(colours[i]), alpha);
      pixels[3 * i + 1] = onWhite(Color.green(colours[i]), alpha);
      pixels[3 * i + 2] = onWhite(Color.blue(colours[i]), alpha);
    }
    Picture colour = new Picture(height, width, 3, pixels);
    return channels == 3 ? colour : gray(colour);
  }

  private static byte onWhite(int value, int alpha) {
    return (byte) ((value * alpha + 255 * (255 - alpha) + 127) / 255);
  }

  /** ITU-R 601-2 luma in the fixed point of Pillow: gray does not change. */
  private static Picture gray(Picture colour) {
    byte[] pixels = new byte[colour.height * colour.width];
    for (int i = 0; i < pixels.length; i++) {
      int red = colour.pixels[3 * i] & 255;
      int green = colour.pixels[3 * i + 1] & 255;
      int blue = colour.pixels[3 * i + 2] & 255;
      pixels[i] = (byte) (19595 * red + 38470 * green + 7471 * blue + (1 << 15) >> 16);
    }
    return new Picture(colour.height, colour.width, 1, pixels);
  }
}
