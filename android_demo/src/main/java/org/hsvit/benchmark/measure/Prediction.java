package org.hsvit.benchmark.measure;

import java.io.Serializable;

/** One class, and how likely a model takes it for that of a picture or of a part of it. */
public final class Prediction implements Serializable {
  /** Index of the class in the model's output. */
  public final int index;

  /** The name of the class; its index where the bundle has no names. */
  public final String label;

  /** From 0 to 1: softmax of the logits, or the output itself where that is a probability; a box's score. */
  public final double probability;

  /** Left, top, right and bottom of the part as shares of the picture; null for the whole picture. */
  public final float[] box;

  Prediction(int index, String label, double probability, float[] box) {
    this.index = index;
    this.label = label;
    this.probability = probability;
    this.box = box;
  }
}
