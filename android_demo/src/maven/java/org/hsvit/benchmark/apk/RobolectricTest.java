package org.hsvit.benchmark.apk;

import static org.junit.Assert.assertEquals;

import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;

/** Robolectric finds the app's resources, and Android without the network. */
@RunWith(RobolectricTestRunner.class)
public final class RobolectricTest {
  @Test
  public void theAppHasItsName() {
    var app = RuntimeEnvironment.getApplication();
    assertEquals("org.hsvit.benchmark", app.getPackageName());
    assertEquals("HSViT Benchmark", app.getApplicationInfo().loadLabel(app.getPackageManager()).toString());
    assertEquals(35, RuntimeEnvironment.getApiLevel());
  }
}
