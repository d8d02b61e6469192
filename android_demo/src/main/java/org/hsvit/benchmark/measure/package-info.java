/**
 * Measures two models side by side: interleaved blocks, statistics, and checks of the outputs.
 *
 * <p>{@link org.hsvit.benchmark.measure.Benchmark} measures a pair. It uses the phone through
 * {@link org.hsvit.benchmark.measure.RunnerFactory}, {@link org.hsvit.benchmark.measure.PictureDecoder} and
 * {@link org.hsvit.benchmark.measure.Machine}, so this package needs no Android and is tested on a JVM. From
 * the same samples, Python computes the same numbers.
 */
package org.hsvit.benchmark.measure;
