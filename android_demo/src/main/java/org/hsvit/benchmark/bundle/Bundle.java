package org.hsvit.benchmark.bundle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Models, which of them to compare, and the images to run them on. */
public final class Bundle {
  /** Version of the format that this app reads and writes. */
  public static final int VERSION = 3;

  private final Task task;
  private final Detection detection;
  private final String name;
  private final String runtime;
  private final List<String> classNames;
  private final List<LabeledImage> images;
  private final Map<String, ModelFile> models;
  private final List<Pair> pairs;
  private final BundleSource source;

  Bundle(
      Task task,
      Detection detection,
      String name,
      String runtime,
      List<String> classNames,
      List<LabeledImage> images,
      Map<String, ModelFile> models,
      List<Pair> pairs,
      BundleSource source) {
    this.task = task;
    this.detection = detection;
    this.name = name;
    this.runtime = runtime;
    this.classNames = classNames;
    this.images = images;
    this.models = models;
    this.pairs = pairs;
    this.source = source;
  }

  /**
   * Reads the {@code bundle.json} of a source. The files that it names are not read.
   *
   * @throws BundleException a field is missing or wrong; the message names it and its value
   * @throws IOException the file cannot be read
   */
  public static Bundle read(BundleSource source) throws IOException {
    return new BundleParser(source).parse();
  }

  /** What its models are for. */
  public Task task() {
    return task;
  }

  /** How outputs become boxes; null for models that detect nothing. */
  public Detection detection() {
    return detection;
  }

  /** Its title, such as {@code hsvit_tiny on digits}. */
  public String name() {
    return name;
  }

  /** The TFLite version that its models were made for, such as {@code 2.16}. */
  public String runtime() {
    return runtime;
  }

  /** A name for each class; empty where they are not known. */
  public List<String> classNames() {
    return classNames;
  }

  /** The images, one for each row of a reference; may be empty. */
  public List<LabeledImage> images() {
    return images;
  }

  public List<Pair> pairs() {
    return pairs;
  }

  /**
   * The pair with a name.
   *
   * @throws BundleException there is none; the message lists all names
   */
  public Pair pair(String name) throws BundleException {
    List<String> names = new ArrayList<>();
    for (Pair pair : pairs) {
      if (pair.name.equals(name)) {
        return pair;
      }
      names.add(pair.name);
    }
    throw new BundleException(
        "bundle " + this.name + " has no pair " + name + ", it has " + String.join(", ", names));
  }

  /**
   * The model with a file name.
   *
   * @throws BundleException there is none
   */
  public ModelFile model(String file) throws BundleException {
    ModelFile model = models.get(file);
    if (model == null) {
      throw new BundleException("bundle " + name + " has no model " + file);
    }
    return model;
  }

  /** Where its files are. */
  public BundleSource source() {
    return source;
  }
}
