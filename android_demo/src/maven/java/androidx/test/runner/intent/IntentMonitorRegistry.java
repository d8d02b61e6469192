package androidx.test.runner.intent;

/** Stands in for androidx.test, which Robolectric calls. */
public final class IntentMonitorRegistry {
  private static IntentMonitor monitor;

  private IntentMonitorRegistry() {}

  public static void registerInstance(IntentMonitor newMonitor) {
    monitor = newMonitor;
  }

  public static IntentMonitor getInstance() {
    return monitor;
  }
}
