package androidx.test.platform.app;

import android.app.Instrumentation;
import android.os.Bundle;

/** Stands in for androidx.test, which Robolectric calls. */
public final class InstrumentationRegistry {
  private static Instrumentation instrumentation;
  private static Bundle arguments = new Bundle();

  private InstrumentationRegistry() {}

  public static void registerInstance(Instrumentation newInstrumentation, Bundle newArguments) {
    instrumentation = newInstrumentation;
    arguments = newArguments;
  }

  public static Instrumentation getInstrumentation() {
    return instrumentation;
  }

  public static Bundle getArguments() {
    return arguments;
  }
}
