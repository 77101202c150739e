"""A variational autoencoder as a class, with weights in dictionaries."""

import json
import sys

import numpy as np
import tensorflow as tf

np.random.seed(0)
tf.set_random_seed(0)
OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))


def xavier_init(fan_in, fan_out, constant=1):
    low, high = -constant * np.sqrt(6.0 / (fan_in + fan_out)), constant * np.sqrt(6.0 / (fan_in + fan_out))
    return tf.random_uniform((fan_in, fan_out), minval=low, maxval=high, dtype=tf.float32)


class VariationalAutoencoder(object):
    def __init__(self, sizes, transfer_fct=tf.nn.softplus, learning_rate=0.01, batch_size=16):
        self.sizes, self.transfer_fct, self.learning_rate = sizes, transfer_fct, learning_rate
        self.batch_size = batch_size
        self.x = tf.placeholder(tf.float32, [None, sizes["input"]])
        self.weights = {
            "recog": tf.Variable(xavier_init(sizes["input"], sizes["hidden"])),
            "mean": tf.Variable(xavier_init(sizes["hidden"], sizes["z"])),
            "log_sigma": tf.Variable(xavier_init(sizes["hidden"], sizes["z"])),
            "gener": tf.Variable(xavier_init(sizes["z"], sizes["hidden"])),
            "out": tf.Variable(xavier_init(sizes["hidden"], sizes["input"])),
        }
        self.biases = {name: tf.Variable(tf.zeros([int(w.get_shape()[1])])) for name, w in self.weights.items()}
        hidden = transfer_fct(self._add("recog", self.x))
        self.z_mean, self.z_log_sigma_sq = self._add("mean", hidden), self._add("log_sigma", hidden)
        eps = tf.random_normal((self.batch_size, sizes["z"]), 0, 1, dtype=tf.float32)
        self.z = (
            tf.add(self.z_mean, tf.mul(tf.sqrt(tf.exp(self.z_log_sigma_sq)), eps))
            if hasattr(tf, "mul")
            else (tf.add(self.z_mean, tf.multiply(tf.sqrt(tf.exp(self.z_log_sigma_sq)), eps)))
        )
        self.x_reconstr_mean = tf.nn.sigmoid(self._add("out", transfer_fct(self._add("gener", self.z))))
        reconstr_loss = -tf.reduce_sum(
            self.x * tf.log(1e-10 + self.x_reconstr_mean) + (1 - self.x) * tf.log(1e-10 + 1 - self.x_reconstr_mean), 1
        )
        latent_loss = -0.5 * tf.reduce_sum(
            1 + self.z_log_sigma_sq - tf.square(self.z_mean) - tf.exp(self.z_log_sigma_sq), 1
        )
        self.cost = tf.reduce_mean(reconstr_loss + latent_loss)
        variables = list(self.weights.values()) + list(self.biases.values())
        self.optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(self.cost, var_list=variables)
        self.sess = tf.InteractiveSession()
        self.sess.run(tf.global_variables_initializer())

    def _add(self, name, value):
        return tf.add(tf.matmul(value, self.weights[name]), self.biases[name])

    def partial_fit(self, X):
        return self.sess.run((self.optimizer, self.cost), feed_dict={self.x: X})[1]

    def transform(self, X):
        return self.sess.run(self.z_mean, feed_dict={self.x: X})


data = (np.random.uniform(size=(64, 20)) > 0.5).astype(np.float64)
vae = VariationalAutoencoder({"input": 20, "hidden": 12, "z": 3})
saver = tf.train.Saver()
losses = []
if "--restore" in OPTIONS:
    saver.restore(vae.sess, OPTIONS["--restore"])
else:
    for epoch in range(3):
        for start in range(0, 64, 16):
            losses.append(float(vae.partial_fit(data[start : start + 16])))
    saver.save(vae.sess, OPTIONS["--out"] + "/model.ckpt")
print(json.dumps({"losses": losses, "loss": float(vae.transform(data[:16]).sum())}))
