package org.hsvit.benchmark.app;

import android.app.Activity;
import android.app.Instrumentation;
import android.content.Context;
import android.content.Intent;
import android.os.ParcelFileDescriptor;
import android.os.SystemClock;
import androidx.test.platform.app.InstrumentationRegistry;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.json.JSONException;
import org.json.JSONObject;

/** The app on a real phone, and adb's shell there. */
final class RealPhone {
  private static final long LONGEST_MS = 10 * 60_000;

  private final Instrumentation instrumentation = InstrumentationRegistry.getInstrumentation();
  final Context app = instrumentation.getTargetContext();

  /** How a run ended: what a computer reads in the run's file. */
  JSONObject run(String id, Intent settings) throws Exception {
    shell("input keyevent KEYCODE_WAKEUP");
    Intent intent = new Intent(settings).setClass(app, MainActivity.class);
    intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK);
    intent.putExtra("autorun", true).putExtra("run_id", id);
    Activity screen = instrumentation.startActivitySync(intent);
    try {
      return awaitEnding(id);
    } finally {
      instrumentation.runOnMainSync(screen::finish);
    }
  }

  private JSONObject awaitEnding(String id) throws Exception {
    File file = new File(Folders.runs(app), id + ".json");
    JSONObject told = new JSONObject();
    for (long end = SystemClock.elapsedRealtime() + LONGEST_MS; SystemClock.elapsedRealtime() < end; ) {
      SystemClock.sleep(200);
      told = told(file, told);
      if (told.has("status")) {
        return told;
      }
    }
    throw new AssertionError("run " + id + " did not end in 10 minutes; it told last " + told);
  }

  private static JSONObject told(File file, JSONObject before) throws JSONException {
    try {
      return new JSONObject(read(file));
    } catch (IOException error) {
      return before; // not there yet, or being replaced
    }
  }

  static String read(File file) throws IOException {
    return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
  }

  /** What a command of adb's shell prints. */
  String shell(String command) throws IOException {
    ParcelFileDescriptor output = instrumentation.getUiAutomation().executeShellCommand(command);
    return text(output);
  }

  /** The same, for a command that reads; from Android 12 on. */
  String shell(String command, byte[] input) throws IOException {
    ParcelFileDescriptor[] both = instrumentation.getUiAutomation().executeShellCommandRw(command);
    try (ParcelFileDescriptor.AutoCloseOutputStream to =
        new ParcelFileDescriptor.AutoCloseOutputStream(both[1])) {
      to.write(input);
    }
    return text(both[0]);
  }

  private static String text(ParcelFileDescriptor output) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] buffer = new byte[1 << 16];
    try (InputStream from = new ParcelFileDescriptor.AutoCloseInputStream(output)) {
      for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
        bytes.write(buffer, 0, count);
      }
    }
    return bytes.toString("UTF-8");
  }
}
