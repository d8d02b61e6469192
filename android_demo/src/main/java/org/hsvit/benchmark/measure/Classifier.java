package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;

/** One model of a bundle, ready to say what pictures show. Not for the main thread. */
public final class Classifier implements AutoCloseable {
  /** What a model sees in a picture. */
  public static final class Answer {
    /** The likeliest classes, the likeliest first. */
    public final List<Prediction> top;

    /** How long the model ran, milliseconds. */
    public final double milliseconds;

    Answer(List<Prediction> top, double milliseconds) {
      this.top = top;
      this.milliseconds = milliseconds;
    }
  }

  private static final double ROUNDING = 0.05; // of shares in 8 bits, added up

  private final ModelFile model;
  private final List<String> classNames;
  private final Runner runner;

  private Classifier(ModelFile model, List<String> classNames, Runner runner) {
    this.model = model;
    this.classNames = classNames;
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
    return new Classifier(model, bundle.classNames(), runner);
  }

  /**
   * What the model sees. It looks twice and the second time counts, for a first run is slower.
   *
   * @param picture of the model's size, see {@link ModelFile#height()}
   * @param count how many classes to name, such as 5
   * @throws ModelException the runtime fails, or an output is not finite
   */
  public Answer classify(Picture picture, int count) throws ModelException {
    ByteBuffer input = Preparation.prepare(picture, model);
    runner.run(input);
    long start = System.nanoTime();
    float[] outputs = runner.run(input);
    double milliseconds = (System.nanoTime() - start) / 1e6;
    if (!Statistics.isFinite(outputs)) {
      throw new ModelException(model.file, model.file + " answers with NaN or infinity");
    }
    return new Answer(top(outputs, count), milliseconds);
  }

  private List<Prediction> top(float[] outputs, int count) {
    double[] shares = shares(outputs);
    return IntStream.range(0, outputs.length)
        .boxed()
        .sorted(Comparator.comparing(i -> -outputs[i]))
        .limit(count)
        .map(i -> new Prediction(i, label(i), outputs[i], shares[i]))
        .collect(Collectors.toList());
  }

  /** Softmax, unless the outputs are shares already: then none is negative and their sum is 1. */
  static double[] shares(float[] outputs) {
    double[] shares = new double[outputs.length];
    Arrays.setAll(shares, i -> outputs[i]);
    if (Math.abs(Arrays.stream(shares).sum() - 1) > ROUNDING || Arrays.stream(shares).min().orElse(0) < 0) {
      double largest = outputs[Statistics.argmax(outputs)];
      Arrays.setAll(shares, i -> Math.exp(outputs[i] - largest));
      double sum = Arrays.stream(shares).sum();
      Arrays.setAll(shares, i -> shares[i] / sum);
    }
    return shares;
  }

  private String label(int index) {
    return classNames.isEmpty() ? String.valueOf(index) : classNames.get(index);
  }

  @Override
  public void close() {
    runner.close();
  }
}
