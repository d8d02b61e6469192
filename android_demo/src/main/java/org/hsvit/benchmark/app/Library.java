package org.hsvit.benchmark.app;

import android.content.Context;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.device.AssetSource;

/** All bundles: the one in the APK, then those that were pushed or added. Each has a key. */
final class Library {
  /** The key of the bundle in the APK. The key of any other is the name of its folder. */
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

  /** All bundles, also those that cannot be used. Reads files. */
  static List<Entry> list(Context context) {
    List<Entry> entries = new ArrayList<>();
    if (hasOwn(context)) {
      entries.add(entry(context, OWN));
    }
    for (String name : names(context)) {
      entries.add(entry(context, name));
    }
    return entries;
  }

  private static SortedSet<String> names(Context context) {
    SortedSet<String> names = new TreeSet<>();
    for (File folder : Folders.allBundles(context)) {
      String[] found = folder.list();
      for (String name : found == null ? new String[0] : found) {
        if (!name.startsWith(".")) {
          names.add(name);
        }
      }
    }
    return names;
  }

  /** The name, with a number where a bundle has it already. */
  static String unusedName(Context context, String name) {
    String free = name;
    for (int i = 2; names(context).contains(free); i++) {
      free = name + " " + i;
    }
    return free;
  }

  /**
   * Reads a bundle. Its files are available from {@link Bundle#source()}.
   *
   * @param key {@link #OWN}, or the name of a folder
   * @throws BundleException its bundle.json is not valid
   * @throws IOException there is no bundle with this key, or it cannot be read
   */
  static Bundle open(Context context, String key) throws IOException {
    if (key.equals(OWN)) {
      if (!hasOwn(context)) {
        throw new FileNotFoundException("the app was built without a bundle");
      }
      return Bundle.read(new AssetSource(context.getAssets(), ASSETS));
    }
    for (File bundles : Folders.allBundles(context)) {
      File folder = new File(bundles, key);
      if (folder.getName().equals(key) && !key.startsWith(".") && folder.isDirectory()) {
        return Bundle.read(new FolderSource(folder));
      }
    }
    throw new FileNotFoundException("there is no bundle " + key);
  }

  /** Deletes a bundle that was pushed or added. */
  static void remove(Context context, String key) {
    for (File bundles : Folders.allBundles(context)) {
      Folders.delete(new File(bundles, key));
    }
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
