package org.hsvit.benchmark.app;

import android.app.Activity;

/** The first screen. */
public final class MainActivity extends Activity {}
