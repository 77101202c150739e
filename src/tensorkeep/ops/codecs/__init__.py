"""Images and sounds as files: decoded and encoded, pixel for pixel as TensorFlow does it.

audio              sounds: WAV files, spectrograms, and the cepstral coefficients by which speech is recognized
_bmp               BMP files, uncompressed
_gif               GIF files
image_files        images as files: JPEG, PNG, GIF, BMP and WebP, decoded and encoded
_jpeg              JPEG files as pixels: by compiled code, by simplejpeg if it is there, or by NumPy
_jpeg_codes        Huffman codes and bits of JPEG files that are written
_jpeg_encoding     JPEG files, written, byte for byte as libjpeg-turbo writes them for the same options
_jpeg_entropy      the Huffman-coded part of JPEG files: from bits to coefficients
_jpeg_progression  the scans of progressive JPEG files that are written
_jpeg_sampling     how a JPEG file is read, and how its samples lie in the image
_jpeg_segments     the segments of JPEG files, read: headers, tables, and the coefficients of the scans
_jpeg_tables       the tables of ITU-T T.81, annex K, which JPEG files use unless they have reasons for others
_jpeg_transforms   the arithmetic of JPEG, in whole numbers as libjpeg-turbo does it
_libraries         the libraries that do some of it faster, where they are installed
png                PNG files
_webp              WebP files of one image
_webp_transforms   what is done to the pixels of a lossless WebP image before they are coded, undone
"""
