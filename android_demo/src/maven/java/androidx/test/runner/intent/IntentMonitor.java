package androidx.test.runner.intent;

/** Stands in for androidx.test, which Robolectric calls. */
public interface IntentMonitor {}
