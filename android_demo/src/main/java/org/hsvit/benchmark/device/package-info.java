/**
 * The phone as the other packages use it: the TFLite runtime, images, state, files.
 *
 * <p>{@link org.hsvit.benchmark.device.TfLiteRunner} runs models, {@link
 * org.hsvit.benchmark.device.Bitmaps} decodes and resizes pictures, {@link
 * org.hsvit.benchmark.device.DeviceFacts} and {@link org.hsvit.benchmark.device.DeviceState} read
 * what a report says of the phone.
 */
package org.hsvit.benchmark.device;
