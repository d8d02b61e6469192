package androidx.test.internal.runner.lifecycle;

import android.app.Activity;
import androidx.test.runner.lifecycle.ActivityLifecycleMonitor;
import androidx.test.runner.lifecycle.Stage;

/** Stands in for androidx.test, which Robolectric calls. */
public final class ActivityLifecycleMonitorImpl implements ActivityLifecycleMonitor {
  public void signalLifecycleChange(Stage stage, Activity activity) {}
}
