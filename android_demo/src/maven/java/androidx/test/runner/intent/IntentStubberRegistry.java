package androidx.test.runner.intent;

/** Stands in for androidx.test, which Robolectric calls. */
public final class IntentStubberRegistry {
  private IntentStubberRegistry() {}

  public static boolean isLoaded() {
    return false;
  }

  public static IntentStubber getInstance() {
    throw new IllegalStateException("nothing is stubbed here");
  }
}
