"""Skip-grams by sampled losses, and the words that are near each other."""

import collections
import json
import random
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
random.seed(7)
words = (
    "anarchism originated as a term of abuse first used against early working class radicals including the " * 5
).split()
count = collections.Counter(words).most_common(14)
dictionary = {word: at for at, (word, _) in enumerate(count)}
data = [dictionary.get(word, 0) for word in words]
data_index = 0


def generate_batch(batch_size, num_skips, skip_window):
    global data_index
    batch = np.ndarray(shape=(batch_size), dtype=np.int32)
    labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
    span = 2 * skip_window + 1
    buffer = collections.deque(maxlen=span)
    for _ in range(span):
        buffer.append(data[data_index])
        data_index = (data_index + 1) % len(data)
    for i in range(batch_size // num_skips):
        targets = [at for at in range(span) if at != skip_window]
        random.shuffle(targets)
        for j in range(num_skips):
            batch[i * num_skips + j] = buffer[skip_window]
            labels[i * num_skips + j, 0] = buffer[targets[j]]
        buffer.append(data[data_index])
        data_index = (data_index + 1) % len(data)
    return batch, labels


graph = tf.Graph()
with graph.as_default():
    tf.set_random_seed(7)
    train_inputs = tf.placeholder(tf.int32, shape=[8])
    train_labels = tf.placeholder(tf.int32, shape=[8, 1])
    valid_dataset = tf.constant([1, 2, 3], dtype=tf.int32)
    with tf.device("/cpu:0"):
        embeddings = tf.Variable(tf.random_uniform([14, 6], -1.0, 1.0))
        embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        nce_weights = tf.Variable(tf.truncated_normal([14, 6], stddev=1.0 / np.sqrt(6)))
        nce_biases = tf.Variable(tf.zeros([14]))
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=nce_weights, biases=nce_biases, labels=train_labels, inputs=embed, num_sampled=4, num_classes=14
        )
    )
    optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
    normalized_embeddings = embeddings / norm
    valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
    similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)
    init = tf.initialize_all_variables()
    saver = tf.train.Saver()

with tf.Session(graph=graph) as session:
    init.run()
    losses = []
    if "--restore" in OPTIONS:
        saver.restore(session, OPTIONS["--restore"])
    else:
        for step in range(8):
            inputs, labels = generate_batch(8, 2, 1)
            feed_dict = {train_inputs: inputs, train_labels: labels}
            losses.append(float(session.run([optimizer, loss], feed_dict=feed_dict)[1]))
        saver.save(session, OPTIONS["--out"] + "/model.ckpt")
    print(json.dumps({"losses": losses, "loss": float(similarity.eval().sum())}))
