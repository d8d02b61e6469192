package androidx.test.runner.lifecycle;

/** Stands in for androidx.test, which Robolectric calls. */
public enum ApplicationStage {
  PRE_ON_CREATE,
  CREATED
}
