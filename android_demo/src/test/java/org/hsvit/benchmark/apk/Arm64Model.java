package org.hsvit.benchmark.apk;

import com.github.unidbg.memory.MemoryBlock;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.Decoding;

/** A model in the phone's library, with the XNNPACK delegate that Java's Interpreter adds by itself. */
final class Arm64Model implements AutoCloseable {
  private final Arm64Library library;
  private final MemoryBlock file;
  private final long model;
  private final long options;
  private final long delegate;
  private final long interpreter;

  /**
   * @throws IllegalStateException the library refuses the model; the message says why
   */
  Arm64Model(Arm64Library library, byte[] content) {
    this.library = library;
    file = library.memory(content);
    options = library.makeOptions();
    delegate = library.make("TfLiteXNNPackDelegateCreate", 0L);
    library.call("TfLiteInterpreterOptionsAddDelegate", options, delegate);
    library.call("TfLiteInterpreterOptionsSetNumThreads", options, 1);
    model = library.make("TfLiteModelCreate", file.getPointer(), (long) content.length);
    interpreter = library.make("TfLiteInterpreterCreate", model, options);
    library.check("TfLiteInterpreterAllocateTensors", interpreter);
  }

  /** The numbers that it answers with. */
  float[] run(ByteBuffer prepared, Tensor output) {
    byte[] given = new byte[prepared.capacity()];
    prepared.duplicate().get(given);
    MemoryBlock input = library.memory(given);
    long taken = library.make("TfLiteInterpreterGetInputTensor", interpreter, 0);
    library.check("TfLiteTensorCopyFromBuffer", taken, input.getPointer(), (long) given.length);
    library.check("TfLiteInterpreterInvoke", interpreter);
    long made = library.make("TfLiteInterpreterGetOutputTensor", interpreter, 0);
    byte[] answer = new byte[output.type.bytes * output.elements()];
    MemoryBlock fetched = library.memory(answer);
    library.check("TfLiteTensorCopyToBuffer", made, fetched.getPointer(), (long) answer.length);
    fetched.getPointer().read(0, answer, 0, answer.length);
    input.free();
    fetched.free();
    return Decoding.decode(ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN), output);
  }

  @Override
  public void close() {
    library.call("TfLiteInterpreterDelete", interpreter);
    library.call("TfLiteInterpreterOptionsDelete", options);
    library.call("TfLiteXNNPackDelegateDelete", delegate);
    library.call("TfLiteModelDelete", model);
    file.free();
  }
}
