"""An actor and a critic whose targets are moving averages, reached by a getter of variables; noise is the program's."""

import json
import sys

import numpy as np
import tensorflow as tf

OPTIONS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
STATES, ACTIONS, GAMMA = 3, 1, 0.9


def uniform(seed):
    return tf.random_uniform_initializer(-0.3, 0.3, seed=seed)


def build_actor(s, reuse=None, custom_getter=None):
    trainable = reuse is None
    with tf.variable_scope("Actor", reuse=reuse, custom_getter=custom_getter):
        net = tf.layers.dense(s, 20, tf.nn.relu, name="l1", kernel_initializer=uniform(1), trainable=trainable)
        a = tf.layers.dense(net, ACTIONS, tf.nn.tanh, name="a", kernel_initializer=uniform(2), trainable=trainable)
        return tf.multiply(a, 2.0, name="scaled_a")


def build_critic(s, a, reuse=None, custom_getter=None):
    trainable = reuse is None
    with tf.variable_scope("Critic", reuse=reuse, custom_getter=custom_getter):
        w1_s = tf.get_variable("w1_s", [STATES, 20], initializer=uniform(3), trainable=trainable)
        w1_a = tf.get_variable("w1_a", [ACTIONS, 20], initializer=uniform(4), trainable=trainable)
        b1 = tf.get_variable("b1", [1, 20], initializer=tf.zeros_initializer(), trainable=trainable)
        net = tf.nn.relu(tf.matmul(s, w1_s) + tf.matmul(a, w1_a) + b1)
        return tf.layers.dense(net, 1, kernel_initializer=uniform(5), trainable=trainable)


S = tf.placeholder(tf.float32, [None, STATES], "s")
S_ = tf.placeholder(tf.float32, [None, STATES], "s_")
R = tf.placeholder(tf.float32, [None, 1], "r")
a = build_actor(S)
q = build_critic(S, a)
a_params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="Actor")
c_params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="Critic")
ema = tf.train.ExponentialMovingAverage(decay=1 - 0.1)


def ema_getter(getter, name, *args, **kwargs):
    return ema.average(getter(name, *args, **kwargs))


target_update = [ema.apply(a_params), ema.apply(c_params)]
a_ = build_actor(S_, reuse=True, custom_getter=ema_getter)
q_ = build_critic(S_, a_, reuse=True, custom_getter=ema_getter)
atrain = tf.train.AdamOptimizer(1e-3).minimize(-tf.reduce_mean(q), var_list=a_params)
td_error = tf.losses.mean_squared_error(labels=tf.stop_gradient(R + GAMMA * q_), predictions=q)
ctrain = tf.train.AdamOptimizer(2e-3).minimize(td_error, var_list=c_params)

random = np.random.RandomState(0)
memory = np.zeros((60, STATES * 2 + ACTIONS + 1), dtype=np.float32)
saver, losses = tf.train.Saver(), []
with tf.Session() as session:
    if "--restore" in OPTIONS:
        saver.restore(session, OPTIONS["--restore"])
    else:
        session.run(tf.global_variables_initializer())
        s = random.randn(STATES)
        for pointer in range(len(memory)):
            action = np.clip(random.normal(session.run(a, {S: s[np.newaxis, :]})[0], 1.0), -2, 2)
            after = 0.9 * s + 0.1 * action[0]
            memory[pointer] = np.hstack((s, action, [-np.sum(after**2)], after))
            s = after
        for _ in range(6):
            batch = memory[random.choice(len(memory), size=16)]
            bs, ba, br, bs_ = np.split(batch, [STATES, STATES + ACTIONS, STATES + ACTIONS + 1], axis=1)
            session.run(atrain, {S: bs})
            losses.append(float(session.run(td_error, {S: bs, a: ba, R: br, S_: bs_})))
            session.run(ctrain, {S: bs, a: ba, R: br, S_: bs_})
            session.run(target_update)
        saver.save(session, OPTIONS["--out"] + "/model.ckpt")
    last = float(session.run(tf.reduce_sum(tf.abs(q_)), {S_: np.ones([2, STATES])}))
print(json.dumps({"losses": losses, "loss": last}))
