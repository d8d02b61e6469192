package org.hsvit.benchmark.measure;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.Detection;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Part;
import org.hsvit.benchmark.bundle.Task;

/** Compares outputs with their reference, with the labels, and with those of another model. */
final class Checks {
  private static final String XNNPACK = "XNNPACK"; // as runners call it

  private Checks() {}

  /**
   * The result of a model that was timed and run on the bundle's images.
   *
   * @param outputs rows of all outputs, one for each image
   * @throws ModelException its correct outputs cannot be read
   */
  static ModelResult result(
      Bundle bundle,
      ModelFile model,
      Runner runner,
      Accelerator asked,
      Timing timing,
      float[][] outputs,
      Extra extra)
      throws ModelException {
    return new ModelResult(
        model,
        runner,
        runner.delegation() == null ? expected(bundle, model, runner) : runner.delegation(),
        asked,
        timing.firstMs(),
        timing.warmupMeanMs(),
        timing.blocksMs(),
        Statistics.summarize(timing.latencies()),
        timing.busyCores(),
        model.reference == null || outputs.length == 0 ? null : compare(bundle, model, outputs),
        notFinite(outputs),
        outputs.length,
        metrics(bundle, outputs),
        extra);
  }

  /** What the bundle says of the delegate, if it speaks of this runtime and its kernels; null if not. */
  private static Delegation expected(Bundle bundle, ModelFile model, Runner runner) {
    String version = runner.runtimeVersion();
    boolean isMeant = !bundle.runtime().isEmpty() && version != null && version.startsWith(bundle.runtime());
    return isMeant && XNNPACK.equals(runner.delegate()) ? model.delegation : null;
  }

  private static ReferenceCheck compare(Bundle bundle, ModelFile model, float[][] outputs)
      throws ModelException {
    try {
      return compare(bundle.detection(), model, model.reference.read(bundle.source()), outputs);
    } catch (IOException error) {
      throw new ModelException(model.file, error.getMessage(), error);
    }
  }

  /** Compares rows of outputs; of several outputs, the one that is furthest off is told. */
  static ReferenceCheck compare(
      Detection rule, ModelFile model, float[][] correct, float[][] outputs) {
    Double[] limits = model.reference.limits;
    double[] largest = new double[limits.length];
    int wrong = 0;
    for (int image = 0; image < outputs.length; image++) {
      boolean right = true;
      boolean ordered = true;
      for (int i = 0; i < limits.length; i++) {
        if (limits[i] == null) {
          ordered = false;
          continue;
        }
        double difference = Statistics.difference(correct[image], outputs[image], model.parts.get(i));
        right &= difference <= limits[i]; // NaN is wrong
        largest[i] = Math.max(largest[i], difference); // NaN stays
      }
      right = right && (ordered || areAlike(new Detections(rule, model), correct[image], outputs[image]));
      wrong += right ? 0 : 1;
    }
    int worst = worst(largest, limits);
    Double difference = isFinite(largest[worst]) ? largest[worst] : null;
    return new ReferenceCheck(outputs.length, wrong, difference, limits[worst], model.reference.runtime);
  }

  private static boolean areAlike(Detections detections, float[] correct, float[] output) {
    Detections.Shared shared = detections.shared(new float[][] {correct}, new float[][] {output});
    return shared.alike == shared.either;
  }

  /** The compared output whose largest difference is the most in relation to its limit. */
  private static int worst(double[] largest, Double[] limits) {
    int worst = -1;
    for (int i = 0; i < limits.length; i++) {
      boolean isCompared = limits[i] != null;
      if (isCompared && (worst < 0 || excess(largest[i], limits[i]) > excess(largest[worst], limits[worst]))) {
        worst = i;
      }
    }
    return worst;
  }

  /** How many times the limit a difference is; not finite counts as infinite. */
  private static double excess(double difference, double limit) {
    return isFinite(difference)
        ? difference / Math.max(limit, Double.MIN_VALUE)
        : Double.POSITIVE_INFINITY;
  }

  private static boolean isFinite(double value) {
    return !Double.isNaN(value) && !Double.isInfinite(value);
  }

  /**
   * Compares the outputs of two models; null without images, and where a number is not finite.
   *
   * @param model the original
   */
  static Agreement agreement(
      Bundle bundle, ModelFile model, float[][] expected, float[][] outputs) {
    if (expected.length == 0 || notFinite(expected) + notFinite(outputs) > 0) {
      return null;
    }
    double largest = 0;
    double cosine = 1;
    for (Part part : compared(bundle.detection(), model)) {
      for (int image = 0; image < expected.length; image++) {
        largest = Math.max(largest, Statistics.difference(expected[image], outputs[image], part));
      }
      cosine = Math.min(cosine, Statistics.cosine(expected, outputs, part));
    }
    return new Agreement(
        expected.length, said(bundle, model, expected, outputs), largest, cosine);
  }

  /**
   * The outputs whose numbers are compared. Where boxes are chosen inside of the file, those of nearly equal
   * scores change places, and the scores alone do not.
   */
  private static List<Part> compared(Detection rule, ModelFile model) {
    boolean ordered = rule == null || rule.classes == null;
    return ordered ? model.parts : List.of(model.part(rule.scores));
  }

  /** The share of classes or boxes that both models say; null where outputs are neither. */
  private static Double said(
      Bundle bundle, ModelFile model, float[][] expected, float[][] outputs) {
    if (bundle.task().hasClasses()) {
      int same = 0;
      for (int image = 0; image < expected.length; image++) {
        same += Statistics.argmax(expected[image]) == Statistics.argmax(outputs[image]) ? 1 : 0;
      }
      return (double) same / expected.length;
    }
    if (bundle.detection() == null) {
      return null;
    }
    Detections.Shared shared = new Detections(bundle.detection(), model).shared(expected, outputs);
    return shared.either == 0 ? 1.0 : (double) shared.both / shared.either;
  }

  private static int notFinite(float[][] outputs) {
    int count = 0;
    for (float[] output : outputs) {
      count += Statistics.isFinite(output) ? 0 : 1;
    }
    return count;
  }

  /** The task's metrics on the labelled images; empty without labels, and for tasks without classes. */
  private static Map<String, Double> metrics(Bundle bundle, float[][] outputs) {
    Task task = bundle.task();
    if (!task.hasClasses() || task.metric == null) {
      return Map.of();
    }
    Double accuracy = accuracy(bundle.images(), outputs);
    return accuracy == null ? Map.of() : Map.of(task.metric.name, accuracy);
  }

  /** Share of labelled images whose largest output is the label's; null without labels. */
  private static Double accuracy(List<LabeledImage> images, float[][] outputs) {
    int labelled = 0;
    int correct = 0;
    for (int i = 0; i < outputs.length; i++) {
      Integer label = images.get(i).label;
      if (label != null) {
        labelled++;
        correct += Statistics.isFinite(outputs[i]) && Statistics.argmax(outputs[i]) == label ? 1 : 0;
      }
    }
    return labelled == 0 ? null : (double) correct / labelled;
  }
}
