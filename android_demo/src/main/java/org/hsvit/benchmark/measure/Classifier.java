package org.hsvit.benchmark.measure;

import java.util.List;
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

  /**
   * Checks the file, loads the model and lets it run once, so that later times are not those of a first run.
   *
   * @throws ModelException the file is not what the bundle says, or the runtime refuses it
   */
  public static Classifier open(
      Bundle bundle, ModelFile model, RunnerFactory factory, Settings settings)
      throws ModelException {
    throw new UnsupportedOperationException();
  }

  /**
   * What the model sees.
   *
   * @param picture of the model's size, see {@link ModelFile#height()}
   * @param count how many classes to name, such as 5
   * @throws ModelException an output is not finite
   */
  public Answer classify(Picture picture, int count) throws ModelException {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
