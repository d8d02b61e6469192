package org.hsvit.benchmark.measure;

/** One class that a model sees in a picture. */
public final class Prediction {
  /** Position of the class in the model's outputs. */
  public final int index;

  /** The class's name; its position where the bundle has no names. */
  public final String label;

  /** The model's output for it. */
  public final float output;

  /** What the model holds of it among all classes, 0..1: softmax of logits, or the output itself. */
  public final double share;

  Prediction(int index, String label, float output, double share) {
    this.index = index;
    this.label = label;
    this.output = output;
    this.share = share;
  }
}
