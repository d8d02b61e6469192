"""Tests of hsvit_keras.fine_tuning."""
