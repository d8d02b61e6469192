package androidx.test.runner.lifecycle;

/** Stands in for androidx.test, which Robolectric calls. */
public enum Stage {
  PRE_ON_CREATE,
  CREATED,
  STARTED,
  RESUMED,
  PAUSED,
  STOPPED,
  RESTARTED,
  DESTROYED
}
