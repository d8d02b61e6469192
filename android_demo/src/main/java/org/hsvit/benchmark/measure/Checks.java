package org.hsvit.benchmark.measure;

import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Reference;

/** Checks of answers: against the right ones, against the labels, and of two models with each other. */
final class Checks {
  private Checks() {}

  /** All that is known of a model after timing it and letting it answer the bundle's images. */
  static ModelResult result(
      Bundle bundle, ModelFile model, Runner runner, Timing timing, float[][] answers) {
    return new ModelResult(
        model,
        runner,
        timing.firstMs(),
        timing.warmupMeanMs(),
        timing.blocksMs(),
        Statistics.summarize(timing.latencies()),
        timing.busyCores(),
        model.reference == null || answers.length == 0 ? null : compare(model.reference, answers),
        notFinite(answers),
        answers.length,
        accuracy(bundle.images(), answers));
  }

  static ReferenceCheck compare(Reference reference, float[][] answers) {
    int wrong = 0;
    double largest = 0;
    for (int image = 0; image < answers.length; image++) {
      double difference = Statistics.difference(reference.outputs[image], answers[image]);
      wrong += difference <= reference.maxAbsDiff ? 0 : 1; // NaN is wrong
      largest = Math.max(largest, difference); // NaN stays
    }
    boolean finite = !Double.isNaN(largest) && !Double.isInfinite(largest);
    return new ReferenceCheck(
        answers.length, wrong, finite ? largest : null, reference.maxAbsDiff, reference.runtime);
  }

  static Agreement agreement(float[][] expected, float[][] answers) {
    boolean comparable = expected.length > 0 && notFinite(expected) + notFinite(answers) == 0;
    return comparable ? Statistics.agreement(expected, answers) : null;
  }

  private static int notFinite(float[][] answers) {
    int count = 0;
    for (float[] answer : answers) {
      count += Statistics.isFinite(answer) ? 0 : 1;
    }
    return count;
  }

  /** Share of labelled images whose largest output is the label's; null without labels. */
  private static Double accuracy(List<LabeledImage> images, float[][] answers) {
    int labelled = 0;
    int right = 0;
    for (int i = 0; i < answers.length; i++) {
      Integer label = images.get(i).label;
      if (label != null) {
        labelled++;
        right += Statistics.isFinite(answers[i]) && Statistics.argmax(answers[i]) == label ? 1 : 0;
      }
    }
    return labelled == 0 ? null : (double) right / labelled;
  }
}
