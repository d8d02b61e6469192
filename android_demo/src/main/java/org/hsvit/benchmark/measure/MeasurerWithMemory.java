package org.hsvit.benchmark.measure;

import java.util.HashMap;
import java.util.Map;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Listener.Phase;

/** Measures the memory of each model once, then pairs. */
public final class MeasurerWithMemory implements PairMeasurer {
  /** Measures the memory of a model, in a process of its own. */
  public interface MemoryMeasurer {
    /**
     * @return null where it is not known
     * @throws ModelException the model does not load or run
     * @throws CancelledException the listener asked for it
     */
    ModelMemory measure(ModelFile model, Settings settings, Listener listener)
        throws ModelException, CancelledException;
  }

  private final PairMeasurer pairs;
  private final MemoryMeasurer memory;
  private final Machine machine;
  private final Map<String, ModelMemory> known = new HashMap<>();

  public MeasurerWithMemory(PairMeasurer pairs, MemoryMeasurer memory, Machine machine) {
    this.pairs = pairs;
    this.memory = memory;
    this.machine = machine;
  }

  @Override
  public PairResult measure(Pair pair, Settings settings, long limitMs, Listener listener)
      throws ModelException, CancelledException {
    long start = machine.nanoTime();
    ModelMemory original = memory(pair.original, settings, listener);
    ModelMemory mobile = memory(pair.mobile, settings, listener);
    long left = limitMs - (machine.nanoTime() - start) / 1_000_000;
    return pairs.measure(pair, settings, left, listener).withMemory(original, mobile);
  }

  /** A model that does not run is told by the measurement of its pair, so here it is only not known. */
  private ModelMemory memory(ModelFile model, Settings settings, Listener listener)
      throws ModelException, CancelledException {
    String key = model.file + " " + settings.accelerator();
    if (!known.containsKey(key)) {
      listener.onProgress(Phase.MEMORY, 0, 1);
      try {
        known.put(key, memory.measure(model, settings, listener));
      } catch (AcceleratorException error) {
        throw error;
      } catch (ModelException error) {
        known.put(key, null);
      }
    }
    return known.get(key);
  }
}
