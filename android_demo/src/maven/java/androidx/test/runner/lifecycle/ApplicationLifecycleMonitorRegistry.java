package androidx.test.runner.lifecycle;

/** Stands in for androidx.test, which Robolectric calls. */
public final class ApplicationLifecycleMonitorRegistry {
  private static ApplicationLifecycleMonitor monitor;

  private ApplicationLifecycleMonitorRegistry() {}

  public static void registerInstance(ApplicationLifecycleMonitor newMonitor) {
    monitor = newMonitor;
  }

  public static ApplicationLifecycleMonitor getInstance() {
    return monitor;
  }
}
