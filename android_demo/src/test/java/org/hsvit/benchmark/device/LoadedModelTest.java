package org.hsvit.benchmark.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Tensor;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Settings;
import org.json.JSONObject;
import org.junit.Test;

/** What can be tested of the runtime where its library is not: the JVM. */
public class LoadedModelTest {
  private static final byte[] CONTENT = {1, 2, 3};

  private final FakePhone phone = new FakePhone();

  @Test
  public void aRuntimeThatDoesNotLoadIsOneClearMessage() throws Exception {
    Bundle bundle = phone.bundle();
    ModelException error =
        assertThrows(
            ModelException.class,
            () -> TfLiteRunner.open(bundle.model(FakePhone.INT8), phone, Settings.DEFAULT));
    assertEquals(FakePhone.INT8, error.file);
    String start = "int8.tflite does not load in TFLite: ";
    assertTrue(error.getMessage(), error.getMessage().startsWith(start));
    assertTrue(error.getMessage(), error.getMessage().length() > start.length());
  }

  @Test
  public void aFileThatCannotBeReadIsNamed() throws Exception {
    ModelFile model = phone.bundle().model(FakePhone.INT8);
    phone.files.remove(FakePhone.INT8);
    ModelException error =
        assertThrows(
            ModelException.class, () -> TfLiteRunner.open(model, phone, Settings.DEFAULT));
    assertEquals("cannot read int8.tflite: there is no int8.tflite", error.getMessage());
  }

  private static JSONObject model(String file, Tensor output) {
    Tensor input = new Tensor(new int[] {1, 8, 6, 3}, Tensor.Type.INT8, 0.0125f, -7);
    return AddedModels.model(file, CONTENT, input, output);
  }

  private Bundle bundle(String... files) throws Exception {
    Tensor output = new Tensor(new int[] {1, 10}, Tensor.Type.FLOAT32, 0, 0);
    JSONObject[] models = new JSONObject[files.length];
    for (int i = 0; i < files.length; i++) {
      models[i] = model(files[i], output);
      phone.files.put(files[i], CONTENT);
    }
    JSONObject described = AddedModels.bundle("mine", List.of(files), List.of(models));
    phone.files.put("bundle.json", described.toString().getBytes("UTF-8"));
    return Bundle.read(phone);
  }

  @Test
  public void addedModelsMakeABundleWithoutReference() throws Exception {
    Bundle bundle = bundle("a.tflite", "b.tflite", "c.tflite");
    assertEquals("mine", bundle.name());
    assertEquals(2, bundle.pairs().size());
    assertEquals("a.tflite", bundle.pair("c.tflite").original.file);
    assertEquals("c.tflite", bundle.pair("c.tflite").mobile.file);
    ModelFile model = bundle.model("b.tflite");
    assertEquals(6, model.width());
    assertEquals(10, model.numClasses());
    assertEquals(0.0125f, model.input.scale, 0);
    assertEquals(-7, model.input.zeroPoint);
    assertEquals(null, model.reference);
    assertEquals(true, bundle.images().isEmpty());
    Contents.check(model, phone);
  }

  @Test
  public void aModelAddedAloneIsPairedWithItself() throws Exception {
    Bundle bundle = bundle("a.tflite");
    assertEquals(1, bundle.pairs().size());
    assertEquals(bundle.pairs().get(0).original, bundle.pairs().get(0).mobile);
  }
}
