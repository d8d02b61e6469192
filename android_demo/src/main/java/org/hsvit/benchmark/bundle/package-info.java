/**
 * What a bundle says: models, which of them to compare, images to show them and the right answers.
 *
 * <p>A {@link org.hsvit.benchmark.bundle.Bundle} is read from the {@code bundle.json} of a {@link
 * org.hsvit.benchmark.bundle.BundleSource}, a folder or the assets of an APK. No Android here.
 */
package org.hsvit.benchmark.bundle;
