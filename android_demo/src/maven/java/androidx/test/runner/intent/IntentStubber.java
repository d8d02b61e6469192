package androidx.test.runner.intent;

import android.app.Instrumentation;
import android.content.Intent;

/** Stands in for androidx.test, which Robolectric calls. */
public interface IntentStubber {
  Instrumentation.ActivityResult getActivityResultForIntent(Intent intent);
}
