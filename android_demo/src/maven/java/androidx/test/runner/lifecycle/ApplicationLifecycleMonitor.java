package androidx.test.runner.lifecycle;

/** Stands in for androidx.test, which Robolectric calls. */
public interface ApplicationLifecycleMonitor {}
