package org.hsvit.benchmark.app;

import android.content.Context;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.device.AssetSource;

/** The bundles that there are: the APK's own, then those that were pushed or added, each by its key. */
final class Library {
  /** The key of the bundle in the APK. Those of all others are the names of their folders. */
  static final String OWN = "";

  private static final String ASSETS = "bundle";

  /** A bundle, or why it cannot be used. */
  static final class Entry {
    final String key;

    /** Null if it cannot be used. */
    final Bundle bundle;

    /** Why it cannot be used; null if it can. */
    final String problem;

    Entry(String key, Bundle bundle, String problem) {
      this.key = key;
      this.bundle = bundle;
      this.problem = problem;
    }
  }

  private Library() {}

  /** All bundles, the damaged too. Reads files. */
  static List<Entry> list(Context context) {
    List<Entry> entries = new ArrayList<>();
    if (hasOwn(context)) {
      entries.add(entry(context, OWN));
    }
    String[] names = Folders.bundles(context).list();
    if (names != null) {
      Arrays.sort(names);
      for (String name : names) {
        if (!name.startsWith(".")) {
          entries.add(entry(context, name));
        }
      }
    }
    return entries;
  }

  /**
   * Reads a bundle; its files are then read by {@link Bundle#source()}.
   *
   * @param key {@link #OWN}, or the name of a folder
   * @throws BundleException it is damaged
   * @throws IOException there is none of this key, or it cannot be read
   */
  static Bundle open(Context context, String key) throws IOException {
    if (key.equals(OWN)) {
      if (!hasOwn(context)) {
        throw new FileNotFoundException("the app was built without a bundle");
      }
      return Bundle.read(new AssetSource(context.getAssets(), ASSETS));
    }
    File folder = new File(Folders.bundles(context), key);
    if (!folder.getName().equals(key) || key.startsWith(".") || !folder.isDirectory()) {
      throw new FileNotFoundException("there is no bundle " + key);
    }
    return Bundle.read(new FolderSource(folder));
  }

  /** Deletes a bundle that was pushed or added. */
  static void remove(Context context, String key) {
    Folders.delete(new File(Folders.bundles(context), key));
  }

  private static Entry entry(Context context, String key) {
    try {
      return new Entry(key, open(context, key), null);
    } catch (IOException error) {
      return new Entry(key, null, error.getMessage());
    }
  }

  private static boolean hasOwn(Context context) {
    try {
      return context.getAssets().list(ASSETS).length > 0;
    } catch (IOException error) {
      return false;
    }
  }
}
