package androidx.test.runner.lifecycle;

/** Stands in for androidx.test, which Robolectric calls. */
public final class ActivityLifecycleMonitorRegistry {
  private static ActivityLifecycleMonitor monitor;

  private ActivityLifecycleMonitorRegistry() {}

  public static void registerInstance(ActivityLifecycleMonitor newMonitor) {
    monitor = newMonitor;
  }

  public static ActivityLifecycleMonitor getInstance() {
    return monitor;
  }
}
