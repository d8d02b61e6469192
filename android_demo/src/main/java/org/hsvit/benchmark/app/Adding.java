package org.hsvit.benchmark.app;

import android.content.ContentResolver;
import android.content.Context;
import android.database.Cursor;
import android.net.Uri;
import android.provider.OpenableColumns;
import android.system.ErrnoException;
import android.system.OsConstants;
import android.util.Log;
import java.io.BufferedInputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleArchive;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.device.AddedModels;
import org.hsvit.benchmark.device.TfliteMetadata;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.ModelException;

/**
 * Adds files that the user picked: copies models and makes a bundle of them, or unpacks a bundle.
 *
 * <p>All or nothing: the bundle is moved to its place after the runtime has loaded every model, or after all
 * files of the archive were checked.
 */
final class Adding {
  /** Why the files were not added; the message is for the user. */
  static final class Refusal extends Exception {
    Refusal(String message) {
      super(message);
    }
  }

  private static final byte[] MAGIC = {'T', 'F', 'L', '3'};
  private static final int MAGIC_AT = 4;
  private static final byte[] ARCHIVE = {'P', 'K', 3, 4};

  private final Context context;
  private final Isolation isolation;

  Adding(Context context, Isolation isolation) {
    this.context = context;
    this.isolation = isolation;
  }

  /**
   * Adds files as one bundle. Not for the main thread.
   *
   * @param range the numbers that black and white pixels have in the models' inputs
   * @param classNames of the models' classes; empty where they are not known
   * @return a message for the user
   * @throws Refusal one of them cannot be used, or there is no room; nothing was added
   */
  String add(List<Uri> uris, InputRange range, List<String> classNames) throws Refusal {
    File working = new File(Folders.bundles(context), ".adding");
    Folders.delete(working);
    try {
      return add(uris, range, classNames, working);
    } finally {
      Folders.delete(working);
    }
  }

  /**
   * Adds a bundle that was packed as a zip archive. Not for the main thread.
   *
   * @return a message for the user; null if the file is no archive
   * @throws Refusal it is no bundle, or there is no room; nothing was added
   */
  String addArchive(Uri uri) throws Refusal {
    File working = new File(Folders.bundles(context), ".adding");
    Folders.delete(working);
    String name = nameOf(uri);
    try (InputStream from = new BufferedInputStream(open(uri))) {
      from.mark(ARCHIVE.length);
      byte[] start = new byte[ARCHIVE.length];
      boolean is = fill(from, start) == start.length && Arrays.equals(start, ARCHIVE);
      from.reset();
      return is ? unpack(from, name, working) : null;
    } catch (BundleException error) {
      throw new Refusal(context.getString(R.string.add_no_bundle, name, error.getMessage()));
    } catch (IOException | SecurityException error) {
      throw unreadable(name, error);
    } finally {
      Folders.delete(working);
    }
  }

  /**
   * What models say of themselves: that of the largest, which becomes the original, if it says anything. Not for
   * the main thread.
   */
  TfliteMetadata metadata(List<Uri> uris) {
    TfliteMetadata found = TfliteMetadata.NONE;
    long largest = -1;
    for (Uri uri : uris) {
      try (PickedFile file = PickedFile.open(context, uri)) {
        TfliteMetadata said = TfliteMetadata.read(file.content);
        if (said != TfliteMetadata.NONE && file.content.capacity() > largest) {
          found = said;
          largest = file.content.capacity();
        }
      } catch (IOException | RuntimeException error) {
        Log.w(Autorun.TAG, "metadata of " + uri, error); // adding it says what is wrong
      }
    }
    return found;
  }

  private String unpack(InputStream archive, String name, File working) throws IOException, Refusal {
    Bundle bundle = BundleArchive.unpack(archive, working);
    String free = Library.unusedName(context, name.replaceFirst("(?i)\\.zip$", ""));
    if (!working.renameTo(new File(Folders.bundles(context), free))) {
      throw new Refusal(context.getString(R.string.add_not_written, free));
    }
    return context.getString(R.string.added_bundle, bundle.name());
  }

  private String add(List<Uri> uris, InputRange range, List<String> classNames, File working) throws Refusal {
    String bundle = Library.unusedName(context, nameOf(uris.get(0)).replaceFirst("(?i)\\.tflite$", ""));
    File folder = new File(working, bundle);
    if (!folder.mkdirs()) {
      throw new Refusal(context.getString(R.string.add_not_written, folder));
    }
    List<File> files = new ArrayList<>();
    for (Uri uri : uris) {
      files.add(copy(uri, folder));
    }
    files.sort(Comparator.comparing(File::length).reversed());
    List<String> names = new ArrayList<>();
    for (File file : files) {
      names.add(file.getName());
    }
    describe(folder, names, range, classNames);
    if (!folder.renameTo(new File(Folders.bundles(context), bundle))) {
      throw new Refusal(context.getString(R.string.add_not_written, folder));
    }
    return Words.quantity(context.getResources(), R.plurals.added, names.size(), names.get(0));
  }

  private void describe(File folder, List<String> names, InputRange range, List<String> classNames)
      throws Refusal {
    try {
      isolation.run(new DescribeWork(folder, names, range), null, Isolation.SILENT);
      if (!classNames.isEmpty()) {
        AddedModels.nameClasses(folder, classNames);
      }
    } catch (ModelException error) {
      String file = error.file == null ? String.join(", ", names) : error.file;
      throw new Refusal(context.getString(R.string.add_refused, file, error.getMessage()));
    } catch (BundleException error) {
      throw new Refusal(context.getString(R.string.add_not_comparable, error.getMessage()));
    } catch (IOException error) {
      throw refusal(R.string.add_not_written, error);
    } catch (CancelledException error) {
      throw new AssertionError("nothing cancels adding", error);
    }
  }

  private File copy(Uri uri, File folder) throws Refusal {
    String name = nameOf(uri);
    String stored = name.replaceFirst("(?i)(\\.tflite)?$", ".tflite"); // as bundles name models
    File file = new File(folder, stored);
    for (int i = 2; file.exists(); i++) {
      file = new File(folder, i + " " + stored);
    }
    try (InputStream from = open(uri)) {
      copy(from, file, name);
      return file;
    } catch (IOException | SecurityException error) {
      throw unreadable(name, error);
    }
  }

  private Refusal unreadable(String name, Exception error) {
    return new Refusal(
        isFull(error)
            ? context.getString(R.string.disk_full)
            : context.getString(R.string.add_unreadable, name, error.getMessage()));
  }

  private void copy(InputStream from, File file, String name) throws IOException, Refusal {
    try (OutputStream to = new FileOutputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      int count = fill(from, buffer);
      if (!isModel(buffer, count)) {
        throw new Refusal(context.getString(R.string.add_no_model, name));
      }
      for (; count > 0; count = fill(from, buffer)) {
        to.write(buffer, 0, count);
      }
    }
  }

  /** Reads until the buffer is full or the file ends. */
  private static int fill(InputStream from, byte[] buffer) throws IOException {
    int filled = 0;
    while (filled < buffer.length) {
      int count = from.read(buffer, filled, buffer.length - filled);
      if (count < 0) {
        break;
      }
      filled += count;
    }
    return filled;
  }

  private static boolean isModel(byte[] start, int count) {
    boolean is = count >= MAGIC_AT + MAGIC.length;
    for (int i = 0; is && i < MAGIC.length; i++) {
      is = start[MAGIC_AT + i] == MAGIC[i];
    }
    return is;
  }

  private InputStream open(Uri uri) throws IOException {
    InputStream stream = context.getContentResolver().openInputStream(uri);
    if (stream == null) {
      throw new FileNotFoundException("its provider has no content for it");
    }
    return stream;
  }

  private Refusal refusal(int text, IOException error) {
    return new Refusal(
        isFull(error) ? context.getString(R.string.disk_full) : context.getString(text, error.getMessage()));
  }

  private static boolean isFull(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof ErrnoException && ((ErrnoException) cause).errno == OsConstants.ENOSPC) {
        return true;
      }
      // Exceptions of java.nio.file have no errno.
      if (cause.getMessage() != null && cause.getMessage().contains("No space left on device")) {
        return true;
      }
    }
    return false;
  }

  /** The name that the user sees, without characters that a file name must not have. */
  private String nameOf(Uri uri) {
    String name = null;
    ContentResolver resolver = context.getContentResolver();
    String[] columns = {OpenableColumns.DISPLAY_NAME};
    try (Cursor cursor = resolver.query(uri, columns, null, null, null)) {
      if (cursor != null && cursor.moveToFirst()) {
        name = cursor.getString(0);
      }
    } catch (RuntimeException error) {
      name = null; // this provider has no names
    }
    name = name == null ? uri.getLastPathSegment() : name;
    String plain = name == null ? "" : name.replaceAll("[^\\p{L}\\p{N}._ -]", "_").replaceFirst("^\\.+", "");
    return plain.isEmpty() ? "model.tflite" : plain;
  }
}
