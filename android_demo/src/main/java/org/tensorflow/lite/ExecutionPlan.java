package org.tensorflow.lite;

/** The runtime's plan of a graph, which its public classes do not show; in their package for that reason. */
public final class ExecutionPlan {
  private ExecutionPlan() {}

  /** How many nodes run one after the other: each piece that a delegate took is one. */
  public static int length(InterpreterApi interpreter) {
    return ((InterpreterImpl) interpreter).getExecutionPlanLength();
  }
}
