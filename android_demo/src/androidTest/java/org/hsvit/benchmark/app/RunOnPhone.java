package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.content.Intent;
import java.io.File;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Test;

/** Short runs of the app's own bundle, with the phone's own runtime. Their latencies are of no use. */
public final class RunOnPhone {
  private final RealPhone phone = new RealPhone();

  private static Intent settings(int threads, String accelerator) {
    return new Intent()
        .putExtra("threads", threads)
        .putExtra("accelerator", accelerator)
        .putExtra("blocks", 2)
        .putExtra("runs", 3)
        .putExtra("warmup", 1)
        .putExtra("cooldown_ms", 0);
  }

  @Test
  public void onTheCpuAllModelsGiveCorrectOutputs() throws Exception {
    for (int threads : new int[] {1, 4}) {
      JSONObject ending = phone.run("test-cpu-" + threads, settings(threads, "cpu"));
      assertEquals(ending.toString(), "done", ending.getString("status"));
      JSONArray models = models(ending);
      for (int i = 0; i < models.length(); i++) {
        JSONObject model = models.getJSONObject(i);
        assertTrue(model.toString(), model.getJSONObject("reference").getBoolean("right"));
      }
    }
  }

  /** An accelerator may refuse a model, or compute something else; the app tells, and does not die of it. */
  @Test
  public void anAcceleratorIsMeasuredOrRefused() throws Exception {
    for (String accelerator : new String[] {"gpu", "npu"}) {
      JSONObject ending = phone.run("test-" + accelerator, settings(1, accelerator));
      String status = ending.getString("status");
      assertTrue(ending.toString(), status.equals("done") || status.equals("failed"));
      assertEquals(ending.toString(), status.equals("done"), ending.getString("message").isEmpty());
    }
  }

  @Test
  public void whatIsNotThereIsTold() throws Exception {
    Intent wrong = settings(1, "cpu").putExtra("pairs", "no such pair");
    JSONObject ending = phone.run("test-wrong", wrong);
    assertEquals("failed", ending.getString("status"));
    assertTrue(ending.toString(), ending.getString("message").contains("no such pair"));
  }

  private static JSONArray models(JSONObject ending) throws Exception {
    File report = new File(ending.getString("report"));
    JSONArray models = new JSONObject(RealPhone.read(report)).getJSONArray("models");
    assertTrue(report.delete());
    assertTrue(models.length() >= 2);
    return models;
  }
}
