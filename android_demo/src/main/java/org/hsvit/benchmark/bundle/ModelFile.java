package org.hsvit.benchmark.bundle;

import java.util.List;

/** A {@code .tflite} file of a bundle: what it is called, what it must be, takes and gives. */
public final class ModelFile {
  public final String file;
  public final String title;

  /** The converter's preset, such as {@code int8}; null where it is not known. */
  public final String preset;

  /** Size of the file. */
  public final long bytes;

  /** Of the file, 64 hexadecimal digits. */
  public final String sha256;

  public final Tensor input;
  public final Tensor output;

  /** Whether it takes 0..255 and normalizes by itself. */
  public final boolean pixels;

  /** Subtracted from values of 0..1, before or inside the model: one number, or one for each channel. */
  public final List<Double> mean;

  /** Divides them after that. */
  public final List<Double> std;

  /** The right answers; null where nobody has them. */
  public final Reference reference;

  /** Share of right answers on the whole test set, measured where the model was made; null if unknown. */
  public final Double accuracy;

  ModelFile(
      String file,
      String title,
      String preset,
      long bytes,
      String sha256,
      Tensor input,
      Tensor output,
      boolean pixels,
      List<Double> mean,
      List<Double> std,
      Reference reference,
      Double accuracy) {
    this.file = file;
    this.title = title;
    this.preset = preset;
    this.bytes = bytes;
    this.sha256 = sha256;
    this.input = input;
    this.output = output;
    this.pixels = pixels;
    this.mean = mean;
    this.std = std;
    this.reference = reference;
    this.accuracy = accuracy;
  }

  /** Height of its images, pixels. */
  public int height() {
    return input.shape[1];
  }

  /** Width of its images, pixels. */
  public int width() {
    return input.shape[2];
  }

  /** Channels of its images: 1 for gray, 3 for RGB. */
  public int channels() {
    return input.shape[3];
  }

  public int numClasses() {
    return output.shape[1];
  }
}
