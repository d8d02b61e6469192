package org.hsvit.benchmark.bundle;

import java.util.Map;

/** A {@code .tflite} file of a bundle: its title, checksum, input and output, reference and metrics. */
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

  /** The numbers that pixels become. */
  public final InputRange range;

  /** The correct outputs; null where they are not known. */
  public final Reference reference;

  /** Metrics of the task, measured where the model was made; empty where they are not known. */
  public final Map<String, Double> metrics;

  ModelFile(
      String file,
      String title,
      String preset,
      long bytes,
      String sha256,
      Tensor input,
      Tensor output,
      InputRange range,
      Reference reference,
      Map<String, Double> metrics) {
    this.file = file;
    this.title = title;
    this.preset = preset;
    this.bytes = bytes;
    this.sha256 = sha256;
    this.input = input;
    this.output = output;
    this.range = range;
    this.reference = reference;
    this.metrics = metrics;
  }

  /** Height of its images, pixels; of clips, whose frames stand below each other, that of all frames. */
  public int height() {
    return input.elements() / (width() * channels());
  }

  /** Width of its images, pixels. */
  public int width() {
    return input.shape[input.shape.length - 2];
  }

  /** Channels of its images: 1 for gray, 3 for RGB. */
  public int channels() {
    return input.shape[input.shape.length - 1];
  }
}
