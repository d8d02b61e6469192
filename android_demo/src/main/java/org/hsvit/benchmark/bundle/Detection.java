package org.hsvit.benchmark.bundle;

/** How a detector's outputs become boxes, and when the boxes of two models are the same. */
public final class Detection {
  /** What the four numbers of a box are, as shares of the image. */
  public enum BoxFormat {
    /** Center x, center y, width, height. */
    CENTER_SIZE,
    TOP_LEFT_BOTTOM_RIGHT
  }

  /**
   * Name of the output with the scores: logits [1, boxes, classes], or where there is an output of classes, the
   * score of each box [1, boxes].
   */
  public final String scores;

  /** Name of the output [1, boxes, 4]. */
  public final String boxes;

  /** Name of the output with the index of each box's class; null where there is none. */
  public final String classes;

  public final BoxFormat boxFormat;

  /** Boxes of at least this score are kept: shown, and compared. */
  public final double scoreThreshold;

  /** Whether a score this near to the threshold is kept is left to rounding. */
  public final double scoreMargin;

  /** Two boxes of one class are the same from this intersection over union on. */
  public final double sameBoxIou;

  /** Of boxes of one class that overlap by more, the best alone counts; null where all count. */
  public final Double suppressionIou;

  /** How many of the best scores are looked at, and how many boxes of an image count at most. */
  public final int candidates;

  public final int most;

  Detection(Fields fields) throws BundleException {
    scores = fields.text("scores");
    boxes = fields.text("boxes");
    classes = fields.isNull("classes") ? null : fields.text("classes");
    boxFormat = boxFormat(fields);
    scoreThreshold = fields.share("score_threshold");
    scoreMargin = fields.share("score_margin");
    sameBoxIou = fields.share("same_box_iou");
    suppressionIou = fields.isNull("suppression_iou") ? null : fields.share("suppression_iou");
    candidates = (int) fields.integer("candidates", 1, Integer.MAX_VALUE);
    most = (int) fields.integer("most", 1, Integer.MAX_VALUE);
  }

  private static BoxFormat boxFormat(Fields fields) throws BundleException {
    switch (fields.text("box_format")) {
      case "center_size":
        return BoxFormat.CENTER_SIZE;
      case "top_left_bottom_right":
        return BoxFormat.TOP_LEFT_BOTTOM_RIGHT;
      default:
        throw fields.wrong("box_format", "center_size or top_left_bottom_right");
    }
  }
}
