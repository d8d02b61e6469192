package org.hsvit.benchmark.measure;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;

/** A classifier or a detector of a bundle, ready for pictures. Not for the main thread. */
public final class Classifier implements AutoCloseable {
  /** What a model says of a picture. */
  public static final class Result implements Serializable {
    /** The most likely classes, or the boxes that are kept; the most likely first. */
    public final List<Prediction> top;

    /** How long the model ran, milliseconds. */
    public final double milliseconds;

    Result(List<Prediction> top, double milliseconds) {
      this.top = top;
      this.milliseconds = milliseconds;
    }
  }

  private static final double ROUNDING = 0.05; // the sum of probabilities in 8 bits

  private final ModelFile model;
  private final List<String> classNames;
  private final Runner runner;

  /** Null for a model that detects nothing. */
  private final Detections detections;

  private Classifier(ModelFile model, Bundle bundle, Runner runner) {
    this.model = model;
    this.classNames = bundle.classNames();
    this.detections = bundle.detection() == null ? null : new Detections(bundle.detection(), model);
    this.runner = runner;
  }

  /**
   * Checks the file and loads the model.
   *
   * @throws ModelException the file is not what the bundle says, or the runtime refuses it
   */
  public static Classifier open(
      Bundle bundle, ModelFile model, RunnerFactory factory, Settings settings)
      throws ModelException {
    Runner runner = factory.openChecked(model, bundle.source(), settings);
    return new Classifier(model, bundle, runner);
  }

  /**
   * Classifies a picture, or finds objects on it. The model runs twice and the second run is timed, as the first is slower.
   *
   * @param picture of the model's size, see {@link ModelFile#height()}
   * @param count how many classes to name, such as 5; boxes are as many as are kept
   * @throws ModelException the runtime fails, or an output is not finite
   */
  public Result classify(Picture picture, int count) throws ModelException {
    ByteBuffer input = Preparation.prepare(picture, model);
    runner.run(input);
    long start = System.nanoTime();
    float[] outputs = runner.run(input);
    double milliseconds = (System.nanoTime() - start) / 1e6;
    if (!Statistics.isFinite(outputs)) {
      throw new ModelException(model.file, model.file + " gives NaN or infinity");
    }
    return new Result(detections == null ? top(outputs, count) : boxes(outputs), milliseconds);
  }

  private List<Prediction> top(float[] outputs, int count) {
    double[] probabilities = probabilities(outputs);
    return IntStream.range(0, outputs.length)
        .boxed()
        .sorted(Comparator.comparing(i -> -outputs[i]))
        .limit(count)
        .map(i -> new Prediction(i, label(i), probabilities[i], null))
        .collect(Collectors.toList());
  }

  private List<Prediction> boxes(float[] outputs) {
    return detections.kept(outputs).stream()
        .map(box -> new Prediction(box.index, label(box.index), box.score, box.sides))
        .collect(Collectors.toList());
  }

  /** Softmax, unless the outputs are probabilities already: then none is negative and their sum is 1. */
  static double[] probabilities(float[] outputs) {
    double[] probabilities = new double[outputs.length];
    Arrays.setAll(probabilities, i -> outputs[i]);
    double total = Arrays.stream(probabilities).sum();
    if (Math.abs(total - 1) > ROUNDING || Arrays.stream(probabilities).min().orElse(0) < 0) {
      double largest = outputs[Statistics.argmax(outputs)];
      Arrays.setAll(probabilities, i -> Math.exp(outputs[i] - largest));
      double sum = Arrays.stream(probabilities).sum();
      Arrays.setAll(probabilities, i -> probabilities[i] / sum);
    }
    return probabilities;
  }

  private String label(int index) {
    return index < classNames.size() ? classNames.get(index) : String.valueOf(index);
  }

  @Override
  public void close() {
    runner.close();
  }
}
