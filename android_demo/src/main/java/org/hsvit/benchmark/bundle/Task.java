package org.hsvit.benchmark.bundle;

/** What models are for. The app computes measures of classes and of boxes. */
public final class Task {
  private static final String CLASSIFICATION = "classification";
  private static final String OF_CLIPS = "video_classification";

  /** Such as {@code classification}. */
  public final String name;

  /** Quality of outputs against labels; null where there is none. */
  public final Measure metric;

  /** How often the outputs of two models mean the same; null where outputs are just numbers. */
  public final Measure agreement;

  public Task(String name, Measure metric, Measure agreement) {
    this.name = name;
    this.metric = metric;
    this.agreement = agreement;
  }

  /** Classification, with the measures that Python has for it. */
  public static Task classification() {
    return new Task(
        CLASSIFICATION,
        new Measure("accuracy", "Accuracy", true, true),
        new Measure("top1_agreement", "Same class", true, true));
  }

  /** Models whose outputs are just numbers. */
  public static Task tensors() {
    return new Task("tensors", null, null);
  }

  public boolean isClassification() {
    return name.equals(CLASSIFICATION);
  }

  /** Whether outputs are one number for each class, of images or of clips. */
  public boolean hasClasses() {
    return isClassification() || name.equals(OF_CLIPS);
  }
}
