package org.hsvit.benchmark.app;

import android.database.Cursor;
import android.database.MatrixCursor;
import android.net.Uri;
import android.os.ParcelFileDescriptor;
import android.provider.OpenableColumns;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;

/** Lets other apps read the reports that the user shares with them, and nothing else. */
public final class ReportsProvider extends FilesProvider {
  private static final String AUTHORITY = "org.hsvit.benchmark.reports";
  private static final String TYPE = "application/json";

  public ReportsProvider() {
    super("reports are read-only");
  }

  /** The URI of a report. */
  static Uri uri(File report) {
    return new Uri.Builder().scheme("content").authority(AUTHORITY).appendPath(report.getName()).build();
  }

  /**
   * The report of a URI.
   *
   * @throws FileNotFoundException there is none, or the URI leads out of the folder of reports
   */
  private File file(Uri uri) throws FileNotFoundException {
    try {
      File folder = Folders.reports(getContext()).getCanonicalFile();
      File file = new File(folder, String.join("/", uri.getPathSegments())).getCanonicalFile();
      if (folder.equals(file.getParentFile()) && file.getName().endsWith(".json") && file.isFile()) {
        return file;
      }
    } catch (IOException error) {
      throw notFound(uri);
    }
    throw notFound(uri);
  }

  private static FileNotFoundException notFound(Uri uri) {
    return new FileNotFoundException("there is no report " + uri);
  }

  @Override
  public ParcelFileDescriptor openFile(Uri uri, String mode) throws FileNotFoundException {
    if (!mode.equals("r")) {
      throw new SecurityException("reports are read-only, they cannot be opened with mode " + mode);
    }
    return ParcelFileDescriptor.open(file(uri), ParcelFileDescriptor.MODE_READ_ONLY);
  }

  /** Name and size, for the app that receives it. */
  @Override
  public Cursor query(Uri uri, String[] columns, String selection, String[] arguments, String order) {
    String[] all = {OpenableColumns.DISPLAY_NAME, OpenableColumns.SIZE};
    MatrixCursor cursor = new MatrixCursor(columns == null ? all : columns, 1);
    try {
      File file = file(uri);
      cursor.newRow()
          .add(OpenableColumns.DISPLAY_NAME, file.getName())
          .add(OpenableColumns.SIZE, file.length());
    } catch (FileNotFoundException error) {
      return cursor; // no row: there is no such report
    }
    return cursor;
  }

  @Override
  public String getType(Uri uri) {
    return TYPE;
  }
}
