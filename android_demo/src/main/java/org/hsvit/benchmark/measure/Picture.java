package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** Pixels of 8 bits, row by row, the channels of a pixel side by side. */
public final class Picture implements Serializable {
  public final int height;
  public final int width;

  /** 1 for gray, 3 for RGB. */
  public final int channels;

  /** Unsigned, {@code height * width * channels} of them. */
  public final byte[] pixels;

  public Picture(int height, int width, int channels, byte[] pixels) {
    if (pixels.length != height * width * channels) {
      throw new IllegalArgumentException(
          pixels.length + " pixels do not make " + height + " x " + width + " x " + channels);
    }
    this.height = height;
    this.width = width;
    this.channels = channels;
    this.pixels = pixels;
  }
}
