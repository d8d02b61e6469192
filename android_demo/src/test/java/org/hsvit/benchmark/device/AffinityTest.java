package org.hsvit.benchmark.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Binds a process of this computer, whose Linux and taskset are those of a phone in this. */
public class AffinityTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void aProcessIsBoundToOneOfItsCores() throws Exception {
    Process sleeper = new ProcessBuilder("sleep", "60").start();
    try {
      File threads = new File("/proc/" + sleeper.pid() + "/task");
      List<Integer> before = Affinity.allowed(threads);
      assumeTrue("one core is no choice: " + before, before != null && before.size() > 1);
      List<Integer> last = before.subList(before.size() - 1, before.size());
      Affinity.bind(String.valueOf(sleeper.pid()), last);
      assertEquals(last, Affinity.allowed(threads));
      Affinity.bind(String.valueOf(sleeper.pid()), before);
      assertEquals(before, Affinity.allowed(threads));
    } finally {
      sleeper.destroy();
      sleeper.waitFor(10, TimeUnit.SECONDS);
    }
  }

  @Test
  public void whatTheSystemRefusesChangesNothing() {
    List<Integer> before = Affinity.allowed(new File("/proc/self/task"));
    Affinity.bind("self", List.of(0)); // no number of a process
    Affinity.bind("999999999", List.of(0));
    assertEquals(before, Affinity.allowed(new File("/proc/self/task")));
  }

  @Test
  public void coresOfAllThreadsCount() throws Exception {
    for (String thread : List.of("11 0-1", "12 1,6")) {
      File status = new File(folder.newFolder(thread.split(" ")[0]), "status");
      String text = "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t" + thread.split(" ")[1] + "\n";
      Files.write(status.toPath(), text.getBytes("US-ASCII"));
    }
    folder.newFolder("13"); // a thread that has just ended
    assertEquals(List.of(0, 1, 6), Affinity.allowed(folder.getRoot()));
    assertNull(Affinity.allowed(new File(folder.getRoot(), "missing")));
  }
}
