package org.hsvit.benchmark.app;

import android.content.ClipData;
import android.content.Context;
import android.content.Intent;
import android.net.Uri;
import java.io.File;
import org.hsvit.benchmark.R;

/** Sends a report to another app that the user chooses. */
final class Share {
  private Share() {}

  /** Sends the file. */
  static void json(Context context, File report) {
    Uri uri = ReportsProvider.uri(report);
    Intent intent = new Intent(Intent.ACTION_SEND);
    intent.setType("application/json");
    intent.putExtra(Intent.EXTRA_STREAM, uri);
    intent.setClipData(ClipData.newRawUri(report.getName(), uri)); // passes on the permission
    intent.addFlags(Intent.FLAG_GRANT_READ_URI_PERMISSION);
    choose(context, intent);
  }

  /** Sends the report as text. */
  static void text(Context context, String text) {
    Intent intent = new Intent(Intent.ACTION_SEND);
    intent.setType("text/plain");
    intent.putExtra(Intent.EXTRA_SUBJECT, context.getString(R.string.results));
    intent.putExtra(Intent.EXTRA_TEXT, text);
    choose(context, intent);
  }

  private static void choose(Context context, Intent intent) {
    context.startActivity(Intent.createChooser(intent, context.getString(R.string.results_share)));
  }
}
