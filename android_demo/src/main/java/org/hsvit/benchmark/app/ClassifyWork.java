package org.hsvit.benchmark.app;

import java.io.IOException;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Classifier;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Picture;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.measure.Settings;

/** Shows a picture to a model. */
final class ClassifyWork implements Work<Classifier.Result> {
  private final String key;
  private final String file;
  private final Picture picture;
  private final int count;

  /**
   * @param key of the bundle in {@link Library}
   * @param picture of the model's size
   * @param count how many classes to name
   */
  ClassifyWork(String key, ModelFile model, Picture picture, int count) {
    this.key = key;
    this.file = model.file;
    this.picture = picture;
    this.count = count;
  }

  @Override
  public Classifier.Result run(BenchmarkApplication app, RunnerFactory runners, Listener listener)
      throws ModelException, IOException {
    Bundle bundle = Library.open(app, key);
    try (Classifier classifier = Classifier.open(bundle, bundle.model(file), runners, Settings.DEFAULT)) {
      return classifier.classify(picture, count);
    }
  }
}
