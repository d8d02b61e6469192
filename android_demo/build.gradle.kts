plugins {
  alias(libs.plugins.android.application)
}

android {
  namespace = "org.hsvit.benchmark"
  compileSdk = 34

  defaultConfig {
    applicationId = "org.hsvit.benchmark"
    minSdk = 26
    targetSdk = 34
    versionCode = 1
    versionName = "1.0"
    testInstrumentationRunner = "androidx.test.runner.AndroidJUnitRunner"
    ndk {
      abiFilters += listOf("arm64-v8a", "armeabi-v7a", "x86_64")
    }
  }

  compileOptions {
    sourceCompatibility = JavaVersion.VERSION_11
    targetCompatibility = JavaVersion.VERSION_11
  }

  // Sources, resources and manifest are where both builds look for them; the bundle is made by `make apk`.
  sourceSets["main"].assets.srcDir("../runs/demo/app/assets")
  androidResources {
    noCompress += "tflite"
  }

  testOptions {
    unitTests.isIncludeAndroidResources = true // for Robolectric
  }
}

dependencies {
  implementation(libs.litert)
  implementation(libs.litert.api)
  implementation(libs.litert.gpu)
  implementation(libs.litert.gpu.api)
  implementation(libs.tflite.metadata)

  testImplementation(libs.junit)
  testImplementation(libs.robolectric)

  androidTestImplementation(libs.junit)
  androidTestImplementation(libs.androidx.test.core)
  androidTestImplementation(libs.androidx.test.runner)
}
