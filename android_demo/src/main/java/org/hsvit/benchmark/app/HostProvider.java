package org.hsvit.benchmark.app;

import android.content.Context;
import android.database.Cursor;
import android.net.Uri;
import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.bundle.BundleArchive;
import org.hsvit.benchmark.report.Json;
import org.json.JSONObject;

/**
 * Passes files between the app and a computer, where adb cannot reach the app's folder itself: the phone's user
 * is another than adb's, or one of both may not write there.
 *
 * <p>adb's shell uses it through {@code content read} and {@code content write}. Below the authority are
 *
 * <ul>
 *   <li>{@code reports}, the names of all reports, the newest first; {@code reports/NAME.json};
 *   <li>{@code runs/ID.json}, how far a run is;
 *   <li>{@code received/NAME}, where a bundle is written as a zip archive. Reading it unpacks the archive and gives
 *       the name of the bundle, or why it is none.
 * </ul>
 */
public final class HostProvider extends FilesProvider {
  public HostProvider() {
    super("it has files only");
  }

  @Override
  public ParcelFileDescriptor openFile(Uri uri, String mode) throws FileNotFoundException {
    List<String> path = uri.getPathSegments();
    String folder = path.isEmpty() ? "" : path.get(0);
    if (path.size() == 1 && folder.equals("reports") && mode.equals("r")) {
      return text(reports());
    }
    if (path.size() != 2 || !isPlain(path.get(1))) {
      throw notFound(uri);
    }
    if (folder.equals("received")) {
      return mode.equals("r") ? text(receive(path.get(1))) : writable(received(path.get(1)), mode);
    }
    if (!mode.equals("r")) {
      throw new SecurityException(uri + " is read-only, it cannot be opened with mode " + mode);
    }
    return ParcelFileDescriptor.open(file(uri, folder, path.get(1)), ParcelFileDescriptor.MODE_READ_ONLY);
  }

  private static boolean isPlain(String name) {
    return !name.isEmpty() && !name.startsWith(".") && name.indexOf('/') < 0 && name.indexOf('\0') < 0;
  }

  private File file(Uri uri, String folder, String name) throws FileNotFoundException {
    Context context = getContext();
    File file =
        folder.equals("reports")
            ? new File(Folders.reports(context), name)
            : new File(Folders.runs(context), name);
    if (!(folder.equals("reports") || folder.equals("runs")) || !file.isFile()) {
      throw notFound(uri);
    }
    return file;
  }

  private static FileNotFoundException notFound(Uri uri) {
    return new FileNotFoundException("there is no " + uri);
  }

  private String reports() {
    StringBuilder names = new StringBuilder();
    for (File report : ReportsPanel.list(Folders.reports(getContext()))) {
      names.append(report.getName()).append('\n');
    }
    return names.toString();
  }

  private File received(String name) {
    return new File(getContext().getCacheDir(), "received/" + name);
  }

  private static ParcelFileDescriptor writable(File file, String mode) throws FileNotFoundException {
    file.getParentFile().mkdirs();
    return ParcelFileDescriptor.open(file, ParcelFileDescriptor.parseMode(mode));
  }

  /** Unpacks an archive that was written, and tells how that went. */
  private synchronized String receive(String name) throws FileNotFoundException {
    JSONObject answer;
    try {
      answer = Json.object("bundle", unpack(received(name), name));
    } catch (FileNotFoundException error) {
      throw error;
    } catch (IOException error) {
      answer = Json.object("problem", String.valueOf(error.getMessage()));
    } finally {
      received(name).delete();
    }
    return answer.toString();
  }

  private String unpack(File archive, String name) throws IOException {
    Context context = getContext();
    File working = new File(Folders.bundles(context), ".received");
    try (InputStream stream = new FileInputStream(archive)) {
      Folders.delete(working);
      BundleArchive.unpack(stream, working);
      Library.remove(context, name);
      String free = Library.unusedName(context, name); // another, where the old one cannot be deleted
      if (!working.renameTo(new File(Folders.bundles(context), free))) {
        throw new IOException("it cannot be stored in " + Folders.bundles(context));
      }
      return free;
    } finally {
      Folders.delete(working);
    }
  }

  private ParcelFileDescriptor text(String text) throws FileNotFoundException {
    try {
      File file = File.createTempFile("answer", null, getContext().getCacheDir());
      try {
        Files.write(file.toPath(), text.getBytes(StandardCharsets.UTF_8));
        return ParcelFileDescriptor.open(file, ParcelFileDescriptor.MODE_READ_ONLY);
      } finally {
        file.delete(); // it can be read as long as it is open
      }
    } catch (IOException error) {
      throw new FileNotFoundException("there is no room for an answer: " + error.getMessage());
    }
  }

  @Override
  public Cursor query(Uri uri, String[] columns, String selection, String[] arguments, String order) {
    throw new UnsupportedOperationException("it has files only");
  }

  @Override
  public String getType(Uri uri) {
    return "application/octet-stream";
  }
}
