package org.hsvit.benchmark.report;

/** Something that limits the numbers of a report. */
public final class Warning {
  /** One of the schema's codes, such as {@code wrong_answers}. */
  public final String code;

  /** The model it is about, as the report names it; null for all. */
  public final String model;

  /** For the user, in English as the report is. */
  public final String message;

  public Warning(String code, String model, String message) {
    this.code = code;
    this.model = model;
    this.message = message;
  }

  /** One line: what it is about and the message. */
  @Override
  public String toString() {
    return model == null ? message : model + ": " + message;
  }
}
