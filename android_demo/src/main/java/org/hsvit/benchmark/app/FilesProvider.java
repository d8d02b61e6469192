package org.hsvit.benchmark.app;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.net.Uri;

/** A provider of files alone: it has no rows that could be added, removed or changed. */
abstract class FilesProvider extends ContentProvider {
  private final String refusal;

  FilesProvider(String refusal) {
    this.refusal = refusal;
  }

  @Override
  public boolean onCreate() {
    return true;
  }

  @Override
  public Uri insert(Uri uri, ContentValues values) {
    throw new UnsupportedOperationException(refusal);
  }

  @Override
  public int delete(Uri uri, String selection, String[] arguments) {
    throw new UnsupportedOperationException(refusal);
  }

  @Override
  public int update(Uri uri, ContentValues values, String selection, String[] arguments) {
    throw new UnsupportedOperationException(refusal);
  }
}
