"""A deep Q network on a corridor: a target network that is copied by its collection, replayed memory."""

import collections
import json
import random
import sys

import numpy as np
import tensorflow as tf

OUT = sys.argv[sys.argv.index("--out") + 1] if "--out" in sys.argv else "out"
RESTORE = sys.argv[sys.argv.index("--restore") + 1] if "--restore" in sys.argv else ""
np.random.seed(2)
random.seed(2)
tf.set_random_seed(2)


class Corridor(object):
    """Five places; the right end is the goal."""

    def reset(self):
        self.at = 0
        return np.eye(5)[self.at]

    def step(self, action):
        self.at = min(max(self.at + (1 if action == 1 else -1), 0), 4)
        return np.eye(5)[self.at], float(self.at == 4), self.at == 4


class DeepQNetwork:
    def __init__(self, n_actions=2, n_features=5, learning_rate=0.05, reward_decay=0.9):
        self.n_actions, self.n_features = n_actions, n_features
        self.lr, self.gamma = learning_rate, reward_decay
        self.memory = collections.deque(maxlen=60)
        self._build_net()
        t_params = tf.get_collection("target_net_params")
        e_params = tf.get_collection("eval_net_params")
        self.replace_target_op = [tf.assign(t, e) for t, e in zip(t_params, e_params)]
        self.sess = tf.Session()
        self.sess.run(tf.initialize_all_variables())

    def _layer(self, s, c_names):
        w_initializer, b_initializer = tf.random_normal_initializer(0.0, 0.3), tf.constant_initializer(0.1)
        with tf.variable_scope("l1"):
            w1 = tf.get_variable("w1", [self.n_features, 8], initializer=w_initializer, collections=c_names)
            b1 = tf.get_variable("b1", [1, 8], initializer=b_initializer, collections=c_names)
            l1 = tf.nn.relu(tf.matmul(s, w1) + b1)
        with tf.variable_scope("l2"):
            w2 = tf.get_variable("w2", [8, self.n_actions], initializer=w_initializer, collections=c_names)
            b2 = tf.get_variable("b2", [1, self.n_actions], initializer=b_initializer, collections=c_names)
            return tf.matmul(l1, w2) + b2

    def _build_net(self):
        self.s = tf.placeholder(tf.float32, [None, self.n_features], name="s")
        self.target = tf.placeholder(tf.float32, [None], name="Q_target")
        self.a = tf.placeholder(tf.int32, [None], name="a")
        with tf.variable_scope("eval_net"):
            self.q_eval = self._layer(self.s, ["eval_net_params", tf.GraphKeys.GLOBAL_VARIABLES])
        with tf.variable_scope("target_net"):
            self.q_next = self._layer(self.s, ["target_net_params", tf.GraphKeys.GLOBAL_VARIABLES])
        with tf.variable_scope("loss"):
            chosen = tf.reduce_sum(self.q_eval * tf.one_hot(self.a, self.n_actions), reduction_indices=1)
            self.loss = tf.reduce_mean(tf.squared_difference(self.target, chosen))
        with tf.variable_scope("train"):
            params = tf.get_collection("eval_net_params")
            self._train_op = tf.train.RMSPropOptimizer(self.lr).minimize(self.loss, var_list=params)

    def choose_action(self, observation):
        if np.random.uniform() < 0.7:
            values = self.sess.run(self.q_eval, feed_dict={self.s: observation[np.newaxis, :]})
            return int(np.argmax(values))
        return np.random.randint(0, self.n_actions)

    def learn(self):
        batch = random.sample(list(self.memory), 8)
        s, a, r, s_ = (np.array(column) for column in zip(*batch))
        q_next = self.sess.run(self.q_next, {self.s: s_})
        feed = {self.s: s, self.a: a, self.target: r + self.gamma * q_next.max(axis=1)}
        return float(self.sess.run([self._train_op, self.loss], feed)[1])


env, agent, losses = Corridor(), DeepQNetwork(), []
saver = tf.train.Saver(max_to_keep=2)
values = agent.q_eval[0]
if RESTORE:
    saver.restore(agent.sess, RESTORE)
else:
    for step in range(40):
        if step % 10 == 0:
            observation = env.reset()
            agent.sess.run(agent.replace_target_op)
        action = agent.choose_action(observation)
        following, reward, done = env.step(action)
        agent.memory.append((observation, action, reward, following))
        observation = env.reset() if done else following
        if step > 20:
            losses.append(agent.learn())
    saver.save(agent.sess, OUT + "/model.ckpt")
print(json.dumps({"losses": losses, "loss": float(agent.sess.run(values, {agent.s: np.eye(5)}).sum())}))
