/**
 * What the other packages need of a phone: the TFLite runtime, its images, its state, its files.
 *
 * <p>{@link org.hsvit.benchmark.device.TfLiteRunner} runs models, {@link
 * org.hsvit.benchmark.device.Bitmaps} decodes and fits pictures, {@link
 * org.hsvit.benchmark.device.DeviceFacts} and {@link org.hsvit.benchmark.device.DeviceState} tell what a
 * report says of the phone.
 */
package org.hsvit.benchmark.device;
