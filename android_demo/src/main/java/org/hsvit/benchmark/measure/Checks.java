package org.hsvit.benchmark.measure;

import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Reference;
import org.hsvit.benchmark.bundle.Task;

/** Compares outputs with their reference, with the labels, and with those of another model. */
final class Checks {
  private Checks() {}

  /** The result of a model that was timed and run on the bundle's images. */
  static ModelResult result(
      Bundle bundle, ModelFile model, Runner runner, Timing timing, float[][] outputs) {
    return new ModelResult(
        model,
        runner,
        timing.firstMs(),
        timing.warmupMeanMs(),
        timing.blocksMs(),
        Statistics.summarize(timing.latencies()),
        timing.busyCores(),
        model.reference == null || outputs.length == 0 ? null : compare(model.reference, outputs),
        notFinite(outputs),
        outputs.length,
        metrics(bundle, outputs));
  }

  static ReferenceCheck compare(Reference reference, float[][] outputs) {
    int wrong = 0;
    double largest = 0;
    for (int image = 0; image < outputs.length; image++) {
      double difference = Statistics.difference(reference.outputs[image], outputs[image]);
      wrong += difference <= reference.maxAbsDiff ? 0 : 1; // NaN is wrong
      largest = Math.max(largest, difference); // NaN stays
    }
    boolean finite = !Double.isNaN(largest) && !Double.isInfinite(largest);
    return new ReferenceCheck(
        outputs.length, wrong, finite ? largest : null, reference.maxAbsDiff, reference.runtime);
  }

  /** Null without images, and where a number is not finite. */
  static Agreement agreement(Task task, float[][] expected, float[][] outputs) {
    boolean comparable = expected.length > 0 && notFinite(expected) + notFinite(outputs) == 0;
    return comparable ? Statistics.agreement(expected, outputs, task.isClassification()) : null;
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
    if (!task.isClassification() || task.metric == null) {
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
