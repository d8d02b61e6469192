package androidx.test.runner.lifecycle;

import android.app.Activity;

/** Stands in for androidx.test, which Robolectric calls. */
public interface ActivityLifecycleCallback {
  void onActivityLifecycleChanged(Activity activity, Stage stage);
}
