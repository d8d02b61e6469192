package org.hsvit.benchmark.measure;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hsvit.benchmark.bundle.Detection;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Part;

/**
 * From a detector's outputs to boxes, and whether two models keep the same boxes: by the rule of the bundle, as
 * Python does it in {@code hsvit_keras/tasks/detections.py} and {@code kept_detections.py}.
 */
final class Detections {
  /** A box, its class and its score. */
  static final class Box {
    final int index;
    final double score;

    /** Left, top, right and bottom as shares of the image. */
    final float[] sides;

    Box(int index, double score, float[] sides) {
      this.index = index;
      this.score = score;
      this.sides = sides;
    }
  }

  /** How many boxes two models share. */
  static final class Shared {
    /** Boxes that both keep. */
    int both;

    /** Boxes that both keep, or only one of them where the original is near the threshold. */
    int alike;

    /** Boxes that either keeps. */
    int either;

    private void add(Shared other) {
      both += other.both;
      alike += other.alike;
      either += other.either;
    }
  }

  private final Detection rule;
  private final Part scores;
  private final Part boxes;

  /** Null where each box has a score for each class. */
  private final Part classes;

  /**
   * @param model one of the bundle with that rule
   */
  Detections(Detection rule, ModelFile model) {
    this.rule = rule;
    scores = model.part(rule.scores);
    boxes = model.part(rule.boxes);
    classes = rule.classes == null ? null : model.part(rule.classes);
  }

  /** The boxes that are kept, or nearly, the best first. Those of lower scores change nothing. */
  private List<Box> nearlyKept(float[] row) {
    if (classes != null) {
      return given(row);
    }
    List<Box> found = rule.suppressionIou == null ? best(row) : suppressed(best(row));
    return found.subList(0, Math.min(rule.most, found.size()));
  }

  /** The boxes that are shown. */
  List<Box> kept(float[] row) {
    List<Box> kept = new ArrayList<>(nearlyKept(row));
    kept.removeIf(box -> !isKept(box));
    return kept;
  }

  private List<Box> given(float[] row) {
    List<Box> found = new ArrayList<>();
    for (int i = 0; i < scores.end - scores.start; i++) {
      double score = row[scores.start + i];
      if (isNear(score)) {
        found.add(new Box(Math.round(row[classes.start + i]), score, sides(row, i)));
      }
    }
    return found;
  }

  private List<Box> best(float[] row) {
    List<Integer> places = new ArrayList<>();
    for (int place = scores.start; place < scores.end; place++) {
      if (isNear(sigmoid(row[place]))) {
        places.add(place);
      }
    }
    places.sort(Comparator.comparing(place -> -row[place])); // keeps the order of equal ones
    List<Box> found = new ArrayList<>();
    for (int place : places.subList(0, Math.min(rule.candidates, places.size()))) {
      int at = place - scores.start;
      found.add(new Box(at % scores.last, sigmoid(row[place]), sides(row, at / scores.last)));
    }
    return found;
  }

  private static double sigmoid(float logit) {
    return 1 / (1 + Math.exp(-logit));
  }

  private boolean isNear(double score) {
    return score >= rule.scoreThreshold - rule.scoreMargin;
  }

  private float[] sides(float[] row, int box) {
    int at = boxes.start + 4 * box;
    if (rule.boxFormat == Detection.BoxFormat.TOP_LEFT_BOTTOM_RIGHT) {
      return new float[] {row[at + 1], row[at], row[at + 3], row[at + 2]};
    }
    float halfWidth = row[at + 2] / 2;
    float halfHeight = row[at + 3] / 2;
    return new float[] {
      row[at] - halfWidth, row[at + 1] - halfHeight, row[at] + halfWidth, row[at + 1] + halfHeight
    };
  }

  /** Of boxes of one class that overlap too much, the best alone. */
  private List<Box> suppressed(List<Box> found) {
    List<Box> staying = new ArrayList<>();
    for (Box box : found) {
      boolean stays = true;
      for (Box better : staying) {
        stays &= better.index != box.index || iou(better.sides, box.sides) <= rule.suppressionIou;
      }
      if (stays) {
        staying.add(box);
      }
    }
    return staying;
  }

  /** Intersection over union; 0 where both boxes have no area. */
  static double iou(float[] one, float[] other) {
    double common =
        area(
            Math.max(one[0], other[0]),
            Math.max(one[1], other[1]),
            Math.min(one[2], other[2]),
            Math.min(one[3], other[3]));
    double union = area(one[0], one[1], one[2], one[3]) + area(other[0], other[1], other[2], other[3]) - common;
    return union > 0 ? common / union : 0;
  }

  private static double area(double left, double top, double right, double bottom) {
    return Math.max(0, right - left) * Math.max(0, bottom - top);
  }

  /**
   * How many boxes two models share on several images.
   *
   * @param expected rows of the original's outputs, one for each image
   * @param outputs rows of the other model's
   */
  Shared shared(float[][] expected, float[][] outputs) {
    Shared sum = new Shared();
    for (int image = 0; image < expected.length; image++) {
      sum.add(shared(nearlyKept(expected[image]), nearlyKept(outputs[image])));
    }
    return sum;
  }

  private boolean isKept(Box box) {
    return box.score >= rule.scoreThreshold;
  }

  private Shared shared(List<Box> ours, List<Box> theirs) {
    Shared shared = new Shared();
    Set<Box> unpaired = new HashSet<>(ours);
    unpaired.addAll(theirs);
    for (Box[] pair : pairs(ours, theirs)) {
      boolean weKeep = isKept(pair[0]);
      boolean theyKeep = isKept(pair[1]);
      boolean isNear = pair[0].score < rule.scoreThreshold + rule.scoreMargin;
      shared.both += weKeep && theyKeep ? 1 : 0;
      shared.alike += theyKeep || weKeep && isNear ? 1 : 0;
      shared.either += weKeep || theyKeep ? 1 : 0;
      unpaired.remove(pair[0]);
      unpaired.remove(pair[1]);
    }
    for (Box box : ours) {
      boolean isLost = unpaired.contains(box) && isKept(box);
      shared.alike += isLost && box.score < rule.scoreThreshold + rule.scoreMargin ? 1 : 0;
      shared.either += isLost ? 1 : 0;
    }
    for (Box box : theirs) {
      shared.either += unpaired.contains(box) && isKept(box) ? 1 : 0;
    }
    return shared;
  }

  /** Pairs of boxes of one class, those that overlap most first, each once. */
  private List<Box[]> pairs(List<Box> ours, List<Box> theirs) {
    List<Box[]> possible = new ArrayList<>();
    for (Box one : ours) {
      for (Box other : theirs) {
        if (one.index == other.index && iou(one.sides, other.sides) >= rule.sameBoxIou) {
          possible.add(new Box[] {one, other});
        }
      }
    }
    possible.sort(Comparator.comparing(pair -> -iou(pair[0].sides, pair[1].sides)));
    List<Box[]> pairs = new ArrayList<>();
    Set<Box> taken = new HashSet<>();
    for (Box[] pair : possible) {
      if (!taken.contains(pair[0]) && !taken.contains(pair[1])) {
        pairs.add(pair);
        taken.addAll(List.of(pair));
      }
    }
    return pairs;
  }
}
