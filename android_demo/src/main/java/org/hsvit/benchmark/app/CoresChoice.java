package org.hsvit.benchmark.app;

import android.content.Context;
import android.view.View;
import android.widget.AdapterView;
import android.widget.ArrayAdapter;
import android.widget.Spinner;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.measure.Cores;
import org.hsvit.benchmark.report.Cluster;

/** The choice of a cluster of cores, where the phone tells that it has several. */
final class CoresChoice {
  private final Spinner spinner;
  private final List<List<Integer>> choices = new ArrayList<>(List.of(List.of()));

  /**
   * @param views holds the spinner and its label
   * @param clusters of the phone; null where they are not known
   */
  CoresChoice(View views, List<Cluster> clusters) {
    spinner = views.findViewById(R.id.cores);
    if (clusters == null || clusters.size() < 2) {
      return;
    }
    Context context = views.getContext();
    List<String> names = new ArrayList<>(List.of(context.getString(R.string.more_all_cores)));
    for (Cluster cluster : clusters) {
      choices.add(cluster.cores);
      names.add(name(context, cluster));
    }
    spinner.setAdapter(new ArrayAdapter<>(context, R.layout.classify_pair, names));
    spinner.setContentDescription(context.getString(R.string.more_cores_spoken, names.get(0)));
    spinner.setOnItemSelectedListener(
        new AdapterView.OnItemSelectedListener() {
          @Override
          public void onItemSelected(AdapterView<?> parent, View view, int position, long id) {
            spinner.setContentDescription(
                context.getString(R.string.more_cores_spoken, names.get(position)));
          }

          @Override
          public void onNothingSelected(AdapterView<?> parent) {}
        });
    spinner.setVisibility(View.VISIBLE);
    views.findViewById(R.id.cores_label).setVisibility(View.VISIBLE);
  }

  private static String name(Context context, Cluster cluster) {
    String cores = Cores.text(cluster.cores);
    return cluster.maxMegahertz == null
        ? context.getString(R.string.more_cluster, cores)
        : context.getString(
            R.string.more_cluster_clock, cores, Words.count(context.getResources(), cluster.maxMegahertz));
  }

  /** The chosen cores; empty for all. */
  List<Integer> cores() {
    return choices.get(Math.max(0, spinner.getSelectedItemPosition()));
  }
}
