package org.hsvit.benchmark.bundle;

import java.util.List;
import java.util.Map;

/** A {@code .tflite} file of a bundle: its title, checksum, input and outputs, reference and metrics. */
public final class ModelFile {
  public final String file;
  public final String title;

  /** The converter's preset, such as {@code int8}; null where it is not known. */
  public final String preset;

  /** Size of the file. */
  public final long bytes;

  /** Of the file, 64 hexadecimal digits. */
  public final String sha256;

  /** Null for a {@link Cut}, which takes any tensors. */
  public final Tensor input;

  /** In the order of the file, at least one. */
  public final List<Tensor> outputs;

  /** The outputs in a row of all their numbers, in the same order. */
  public final List<Part> parts;

  /** The numbers that pixels become. */
  public final InputRange range;

  /** The correct outputs; null where they are not known. */
  public final Reference reference;

  /** What the delegate of the bundle's runtime takes, by its rules; null where it is not known. */
  public final Delegation delegation;

  /** Its operations, each kind in files of its own; empty where the bundle has none. */
  public final List<Cut> cuts;

  /** Metrics of the task, measured where the model was made; empty where they are not known. */
  public final Map<String, Double> metrics;

  ModelFile(
      String file,
      String title,
      String preset,
      long bytes,
      String sha256,
      Tensor input,
      List<Tensor> outputs,
      InputRange range,
      Reference reference,
      Delegation delegation,
      List<Cut> cuts,
      Map<String, Double> metrics) {
    this.file = file;
    this.title = title;
    this.preset = preset;
    this.bytes = bytes;
    this.sha256 = sha256;
    this.input = input;
    this.outputs = List.copyOf(outputs);
    this.parts = Part.of(outputs);
    this.range = range;
    this.reference = reference;
    this.delegation = delegation;
    this.cuts = List.copyOf(cuts);
    this.metrics = metrics;
  }

  /** Whether it is a {@link Cut}. */
  public boolean isCut() {
    return input == null;
  }

  /** Where an output stands in a row; null if there is none of that name. */
  public Part part(String name) {
    for (Part part : parts) {
      if (part.name.equals(name)) {
        return part;
      }
    }
    return null;
  }

  /** How many numbers all outputs have together. */
  public int rowSize() {
    return parts.get(parts.size() - 1).end;
  }

  /** How many frames its clips have; 1 if it takes images. */
  public int frames() {
    return takesClips() ? input.shape[1] : 1;
  }

  /** Whether it takes clips, whose frames stand below each other in an image of the bundle. */
  public boolean takesClips() {
    return input.shape.length == 5;
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
