package org.hsvit.benchmark.app;

import android.app.Application;

/** The app's process. */
public final class BenchmarkApplication extends Application {}
