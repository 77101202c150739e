"""`tf.image` and `tf.audio`.

boxes               boxes on images, under the names of TensorFlow 1's `tf.image`
checks              what the functions of `tf.image` check of their images, before running where that can be
colors              colors and types of images, under the names of TensorFlow 1's `tf.image`
files               images and sounds as files, under the names of TensorFlow 1's `tf.image` and `tf.audio`
geometry            images turned, cropped, padded and resized, under the names of TensorFlow 1's `tf.image`
padded_suppression  suppression of boxes in batches
quality             how images differ, and where they change, under the names of TensorFlow 1's `tf.image`
"""
