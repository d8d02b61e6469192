/**
 * Bundles: models, which of them to compare, images to run them on, and the correct outputs.
 *
 * <p>A {@link org.hsvit.benchmark.bundle.Bundle} is read from the {@code bundle.json} of a {@link
 * org.hsvit.benchmark.bundle.BundleSource}, a folder or the assets of an APK. No Android here.
 */
package org.hsvit.benchmark.bundle;
