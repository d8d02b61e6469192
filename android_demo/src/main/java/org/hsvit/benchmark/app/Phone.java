package org.hsvit.benchmark.app;

import android.content.Context;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.device.AddedModels;
import org.hsvit.benchmark.device.AndroidMachine;
import org.hsvit.benchmark.device.Bitmaps;
import org.hsvit.benchmark.device.DeviceFacts;
import org.hsvit.benchmark.device.TfLiteRunner;
import org.hsvit.benchmark.measure.Machine;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.PictureDecoder;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.report.Device;

/** The phone and its runtime as the screens use them. Tests replace it. */
final class Phone {
  /** Makes a bundle of a folder's models, see {@link AddedModels#describe}. */
  interface Describer {
    Bundle describe(File folder, List<String> files, InputRange range)
        throws ModelException, IOException;
  }

  /** Where models are opened that did not come with the app, and where all are measured. */
  final Isolation isolation;
  final RunnerFactory runners;
  final PictureDecoder decoder;
  final Machine machine;
  final Describer describer;
  private final Supplier<Device> device;

  Phone(
      Isolation isolation,
      RunnerFactory runners,
      PictureDecoder decoder,
      Machine machine,
      Describer describer,
      Supplier<Device> device) {
    this.isolation = isolation;
    this.runners = runners;
    this.decoder = decoder;
    this.machine = machine;
    this.describer = describer;
    this.device = device;
  }

  /** This phone, with TensorFlow Lite. */
  static Phone real(Context context) {
    return new Phone(
        new RemoteProcess(context),
        TfLiteRunner::open,
        new Bitmaps(),
        new AndroidMachine(context),
        AddedModels::describe,
        () -> DeviceFacts.read(context));
  }

  /** Facts of the phone, read anew. */
  Device device() {
    return device.get();
  }
}
