package org.hsvit.benchmark.measure;

/** One class, and how likely a model takes it for that of a picture. */
public final class Prediction {
  /** Index of the class in the model's output. */
  public final int index;

  /** The name of the class; its index where the bundle has no names. */
  public final String label;

  /** The model's output for it. */
  public final float output;

  /** From 0 to 1: softmax of the logits, or the output itself where that is a probability. */
  public final double probability;

  Prediction(int index, String label, float output, double probability) {
    this.index = index;
    this.label = label;
    this.output = output;
    this.probability = probability;
  }
}
