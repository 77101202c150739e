"""What the programs of the modelzoo have in common: flags, input, columns, training, checkpoints, export."""

import argparse
import collections
import json
import math
import os

import numpy as np
import tensorflow as tf
from tensorflow.python.client import timeline
from tensorflow.python.ops import partitioned_variables

tf.logging.set_verbosity(tf.logging.WARN)


def boolean_string(text):
    if text.lower() not in {"false", "true"}:
        raise ValueError("Not a valid boolean string")
    return text.lower() == "true"


def get_arg_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--data_location", default="./data")
    parser.add_argument("--output_dir", default="./result")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--features", type=int, default=26)
    parser.add_argument("--seed", type=int, default=2021)
    parser.add_argument("--learning_rate", type=float, default=0.02)
    parser.add_argument("--optimizer", default="adam")
    parser.add_argument("--keep_checkpoint_max", type=int, default=1)
    parser.add_argument("--timeline", type=int, default=0)
    parser.add_argument("--micro_batch", type=int, default=0)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--ev_elimination", choices=[None, "l2", "gstep"], default=None)
    parser.add_argument("--ev_filter", choices=[None, "counter", "cbf"], default=None)
    parser.add_argument("--group_embedding", choices=[None, "localized", "collective"], default=None)
    for name, default in (
        ("smartstaged", True), ("emb_fusion", True), ("op_fusion", True), ("ev", False), ("adaptive_emb", False),
        ("multihash", False), ("workqueue", False), ("parquet_dataset", False), ("parquet_dataset_shuffle", False),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=boolean_string, default=default)
    return parser


args = get_arg_parser().parse_args()
WORKQUEUE = args.workqueue


# ---------------------------------------------------------------------------------------------------- input


def file_names(names, num_epochs):
    """Files as datasets take them: names, or a queue of works, of all epochs."""
    if not args.workqueue:
        return names
    from tensorflow.python.ops.work_queue import WorkQueue

    return WorkQueue([names], num_epochs=num_epochs).input_dataset()


def build_model_input(path, headers, defaults, num_epochs, parse, field_delim=","):
    """Batches of features and labels: `parse` takes the labels out of a dictionary of columns."""

    def parse_csv(value):
        columns = tf.io.decode_csv(value, record_defaults=defaults, field_delim=field_delim)
        return parse(collections.OrderedDict(zip(headers, columns)))

    if args.parquet_dataset:
        from tensorflow.python.data.experimental.ops import parquet_dataset_ops

        fields = None
        if args.workqueue:
            fields = parquet_dataset_ops.ParquetDataset.read_schema(path)
        dataset = parquet_dataset_ops.ParquetDataset(
            file_names(path, num_epochs), batch_size=args.batch_size, fields=fields
        )
        if args.parquet_dataset_shuffle:
            dataset = dataset.shuffle(buffer_size=100, seed=args.seed)
        dataset = dataset.repeat(1 if args.workqueue else num_epochs)
        dataset = dataset.map(parse, num_parallel_calls=4)
    else:
        dataset = tf.data.TextLineDataset(file_names(path, num_epochs))
        dataset = dataset.shuffle(buffer_size=2000, seed=args.seed)
        dataset = dataset.repeat(1 if args.workqueue else num_epochs)
        dataset = dataset.batch(args.batch_size)
        dataset = dataset.map(parse_csv, num_parallel_calls=4)
    return dataset.prefetch(2)


def inputs_of(train_dataset, test_dataset, staged=True):
    """The next batch, and what begins training and evaluation."""
    iterator = tf.data.Iterator.from_structure(
        tf.data.get_output_types(train_dataset), tf.data.get_output_shapes(test_dataset)
    )
    next_element = iterator.get_next()
    train_init, test_init = iterator.make_initializer(train_dataset), iterator.make_initializer(test_dataset)
    if staged:
        next_element = tf.staged(next_element, num_threads=4, capacity=40)
    return next_element, train_init, test_init


# ---------------------------------------------------------------------------------------------------- columns


def embedding_option():
    evict, admit = None, None
    if args.ev_elimination == "gstep":
        evict = tf.GlobalStepEvict(steps_to_live=4000)
    elif args.ev_elimination == "l2":
        evict = tf.L2WeightEvict(l2_weight_threshold=1e-4)
    if args.ev_filter == "cbf":
        admit = tf.CBFFilter(
            filter_freq=3, max_element_size=2**10, false_positive_probability=0.01, counter_type=tf.int64
        )
    elif args.ev_filter == "counter":
        admit = tf.CounterFilter(filter_freq=3)
    return tf.EmbeddingVariableOption(evict_option=evict, filter_option=admit)


def categorical_column(name, buckets=100):
    """A column of ids, as the flags say: in buckets, in an embedding variable, in both."""
    if args.ev:
        return tf.feature_column.categorical_column_with_embedding(name, dtype=tf.string, ev_option=embedding_option())
    if args.adaptive_emb:
        return tf.feature_column.categorical_column_with_adaptive_embedding(
            name, hash_bucket_size=buckets, dtype=tf.string, ev_option=embedding_option()
        )
    return tf.feature_column.categorical_column_with_hash_bucket(name, hash_bucket_size=buckets, dtype=tf.string)


def embedding_column(column, dimension=4):
    return tf.feature_column.embedding_column(column, dimension=dimension, combiner="mean", do_fusion=args.emb_fusion)


class no_scope:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


def column_scope():
    if args.group_embedding == "collective":
        tf.config.experimental.enable_distributed_strategy(strategy="collective")
    if args.group_embedding:
        return tf.feature_column.group_embedding_column_scope(name="categorical")
    return no_scope()


def input_layer(features, columns, label, masked=(), **options):
    """The first layer; adaptive columns are told which ids are in the embedding variable: here, all of them."""
    if args.adaptive_emb:
        ones = tf.ones(tf.shape(label)[:1], tf.int32)
        options["adaptive_mask_tensors"] = {name: ones for name in masked}
    return tf.feature_column.input_layer(features, columns, **options)


# ---------------------------------------------------------------------------------------------------- layers


def partitioner():
    return partitioned_variables.min_max_variable_partitioner(max_partitions=0, min_slice_size=16 << 10)


def dense_scope(name):
    """A scope of layers; with --bf16 they compute in bfloat16, and keep their weights as they are."""
    scope = tf.variable_scope(name, reuse=tf.AUTO_REUSE)
    return scope.keep_weights(dtype=tf.float32) if args.bf16 else scope


def narrow(tensor):
    return tf.cast(tensor, tf.bfloat16) if args.bf16 else tensor


def wide(tensor):
    return tf.cast(tensor, tf.float32) if args.bf16 else tensor


def add_layer_summary(value, tag):
    tf.summary.scalar("%s/fraction_of_zero_values" % tag, tf.nn.zero_fraction(value))
    tf.summary.histogram("%s/activation" % tag, wide(value))


def dnn(net, units, name, activation=tf.nn.relu, use_bn=False, is_training=True):
    for number, size in enumerate(units):
        with tf.variable_scope("%s_%d" % (name, number), reuse=tf.AUTO_REUSE) as scope:
            net = tf.layers.dense(
                net, units=size, activation=activation, kernel_initializer=tf.glorot_uniform_initializer(), name=scope
            )
            if use_bn:
                net = tf.layers.batch_normalization(net, training=is_training, trainable=True)
            add_layer_summary(net, scope.name)
    return net


def prelu(x, scope=""):
    with tf.variable_scope(name_or_scope=scope, default_name="prelu"):
        alpha = tf.get_variable(
            "prelu_" + scope, shape=x.get_shape()[-1], dtype=x.dtype, initializer=tf.constant_initializer(0.1)
        )
        return tf.nn.relu(x) + alpha * (x - abs(x)) * tf.constant(0.5, dtype=x.dtype)


# ---------------------------------------------------------------------------------------------------- models


def make_optimizer(rate, global_step):
    kinds = {
        "adam": lambda: tf.train.AdamOptimizer(rate, beta1=0.9, beta2=0.999, epsilon=1e-8),
        "adamasync": lambda: tf.train.AdamAsyncOptimizer(rate, beta1=0.9, beta2=0.999, epsilon=1e-8),
        "adagrad": lambda: tf.train.AdagradOptimizer(rate, initial_accumulator_value=0.1),
        "adagraddecay": lambda: tf.train.AdagradDecayOptimizer(rate, global_step=global_step),
        "adagraddecayv2": lambda: tf.train.AdagradDecayOptimizerV2(rate, global_step=global_step),
        "adamw": lambda: tf.train.AdamWOptimizer(weight_decay=1e-4, learning_rate=rate),
        "gradientdescent": lambda: tf.train.GradientDescentOptimizer(rate),
    }
    return kinds[args.optimizer]()


class Model:
    """A model of the zoo: `build` makes logits of features; what is around them is the same for all."""

    learning_rate = None
    clip_norm = None

    def __init__(self, inputs, is_training=True):
        self.feature, self.label = dict(inputs[0]), inputs[1]
        self.is_training = is_training
        self.more_loss = None
        logits = self.build()
        self.probability = tf.math.sigmoid(logits, name="probability")
        self.output = tf.round(self.probability)
        if self.label is None:
            return
        with tf.name_scope("head"):
            self.create_loss(logits)
            self.create_optimizer()
            self.create_metrics()

    def create_loss(self, logits):
        self.loss = tf.losses.sigmoid_cross_entropy(
            tf.reshape(self.label, tf.shape(logits)),
            logits,
            scope="loss",
            reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
        )
        if self.more_loss is not None:
            self.loss += self.more_loss
        tf.summary.scalar("loss", self.loss)

    def create_optimizer(self):
        self.global_step = tf.train.get_or_create_global_step()
        optimizer = make_optimizer(self.learning_rate or args.learning_rate, self.global_step)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            if self.clip_norm is None:
                self.train_op = optimizer.minimize(self.loss, global_step=self.global_step)
                return
            pairs = [
                (tf.clip_by_norm(gradient, self.clip_norm), variable)
                for gradient, variable in optimizer.compute_gradients(self.loss)
                if gradient is not None
            ]
            self.train_op = optimizer.apply_gradients(pairs, global_step=self.global_step)

    def create_metrics(self):
        labels = tf.reshape(self.label, tf.shape(self.probability))
        self.acc, self.acc_op = tf.metrics.accuracy(labels=labels, predictions=self.output)
        self.auc, self.auc_op = tf.metrics.auc(labels=labels, predictions=self.probability, num_thresholds=1000)
        tf.summary.scalar("eval_acc", self.acc)
        tf.summary.scalar("eval_auc", self.auc)


# ---------------------------------------------------------------------------------------------------- running


def session_config():
    config = tf.ConfigProto()
    config.inter_op_parallelism_threads = 2
    if args.smartstaged:
        config.graph_options.optimizer_options.do_smart_stage = True
        config.session_stage_subgraph_thread_pool.add()
        config.session_stage_subgraph_thread_pool[0].inter_op_threads_num = 8
    if args.op_fusion:
        config.graph_options.optimizer_options.do_op_fusion = True
        config.executor_policy = tf.ExecutorPolicy.USE_COST_MODEL_EXECUTOR
    if args.micro_batch:
        config.graph_options.optimizer_options.micro_batch_num = args.micro_batch
    return config


def saved_tensors(prefix):
    """All tensors of a checkpoint, those of embedding variables in the order of their keys."""
    reader = tf.train.load_checkpoint(prefix)
    found = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    return {name: value for name, value in found.items() if not name.startswith("work_queue")}


def are_same(first, second):
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


class Program:
    """One model, from its files to its export."""

    def __init__(self, name, model, train_input, test_input, placeholders, examples):
        self.name, self.model = name, model
        self.train_input, self.test_input = train_input, test_input
        self.placeholders = placeholders
        self.folder = os.path.join(args.output_dir, "model_" + name)
        self.steps = args.steps or math.ceil(examples / args.batch_size)
        self.epochs = math.ceil(args.batch_size * self.steps / examples)

    def build(self, staged, is_training=True):
        tf.set_random_seed(args.seed)
        args.workqueue = WORKQUEUE and staged is not None
        element, train_init, test_init = inputs_of(self.train_input(self.epochs), self.test_input(1), staged)
        return self.model(element, is_training), train_init, test_init

    def run(self):
        found = {"model": self.name}
        with tf.Graph().as_default():
            model, train_init, test_init = self.build(args.smartstaged)
            hooks = [tf.make_prefetch_hook()] if args.smartstaged else []
            found["losses"] = self.train(model, train_init, hooks)
            found.update(self.evaluate(model, test_init, hooks))
        found.update(self.save_and_restore())
        found.update(self.export())
        print(json.dumps(found))

    def train(self, model, data_init_op, hooks):
        scaffold = tf.train.Scaffold(
            local_init_op=tf.group(tf.tables_initializer(), tf.local_variables_initializer(), data_init_op),
            saver=tf.train.Saver(max_to_keep=args.keep_checkpoint_max),
        )
        hooks = hooks + [
            tf.train.StopAtStepHook(last_step=self.steps),
            tf.train.LoggingTensorHook({"steps": model.global_step, "loss": model.loss}, every_n_iter=100),
        ]
        if args.timeline > 0:
            hooks.append(tf.train.ProfilerHook(save_steps=args.timeline, output_dir=self.folder))
        losses = []
        with tf.train.MonitoredTrainingSession(
            master="",
            is_chief=True,
            hooks=hooks,
            scaffold=scaffold,
            checkpoint_dir=self.folder,
            save_checkpoint_steps=self.steps,
            summary_dir=self.folder,
            save_summaries_steps=None,
            config=session_config(),
        ) as sess:
            while not sess.should_stop():
                losses.append(float(sess.run([model.loss, model.train_op])[0]))
        return losses

    def evaluate(self, model, data_init_op, hooks):
        scaffold = tf.train.Scaffold(
            local_init_op=tf.group(tf.tables_initializer(), tf.local_variables_initializer(), data_init_op)
        )
        creator = tf.train.ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=self.folder, config=session_config())
        writer = tf.summary.FileWriter(os.path.join(self.folder, "eval"))
        merged = tf.summary.merge_all()
        rounds, acc, auc = 0, None, None
        with tf.train.MonitoredSession(session_creator=creator, hooks=hooks) as sess:
            while True:
                acc, auc, events, batch = sess.run([model.acc_op, model.auc_op, merged, model.label])
                rounds += len(batch)
        writer.add_summary(events, rounds)
        writer.close()
        return {"evaluated": rounds, "accuracy": float(acc), "auc": float(auc)}

    def save_and_restore(self):
        """Goes on from the checkpoint for some steps, saves what has changed, and reads both back."""
        with tf.Graph().as_default():
            model, train_init, _ = self.build(staged=None)
            saver = tf.train.Saver(incremental_save_restore=True)
            with tf.Session(config=session_config()) as sess:
                sess.run(tf.get_collection(tf.GraphKeys.EV_INIT_VAR_OPS))
                sess.run(tf.get_collection(tf.GraphKeys.EV_INIT_SLOT_OPS))
                sess.run(tf.global_variables_initializer())
                sess.run([tf.local_variables_initializer(), tf.tables_initializer()])
                full = tf.train.latest_checkpoint(self.folder)
                saver.restore(sess, full)
                sess.run(train_init)
                again = saver.save(sess, os.path.join(args.output_dir, self.name, "again"), global_step=0)
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                sess.run(model.train_op, options=options, run_metadata=metadata)
                trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
                sess.run(model.train_op)
                delta = saver.incremental_save(
                    sess, os.path.join(args.output_dir, self.name, "again"), global_step=model.global_step
                )
                now = saved_tensors(saver.save(sess, os.path.join(args.output_dir, self.name, "now", "m")))
            with tf.Session(config=session_config()) as sess:
                sess.run(tf.tables_initializer())
                saver.restore(sess, again)
                saver.incremental_restore(sess, delta)
                back = saved_tensors(saver.save(sess, os.path.join(args.output_dir, self.name, "back", "m")))
        return {
            "full_is_same": are_same(saved_tensors(full), saved_tensors(again)),
            "delta_is_same": are_same(now, back),
            "tensors": len(now),
            "embedding_variables": sorted(name[:-5] for name in now if name.endswith("-keys")),
            "traced": len(json.loads(trace)["traceEvents"]) > 10,
        }

    def export(self):
        """A SavedModel of what takes features and gives probabilities, and what it gives for a few examples."""
        folder = os.path.join(args.output_dir, "export_" + self.name)
        with tf.Graph().as_default():
            tf.set_random_seed(args.seed)
            features = self.placeholders()
            model = self.model((features, None), is_training=False)
            with tf.Session() as sess:
                sess.run(tf.tables_initializer())
                tf.train.Saver().restore(sess, tf.train.latest_checkpoint(self.folder))
                tf.saved_model.simple_save(
                    sess, folder, features, {"probability": model.probability}, legacy_init_op=tf.tables_initializer()
                )
                examples = {
                    name: np.linspace(0, 1, 5) if x.dtype == tf.float32 else np.array(["1", "2", "c", "i3", "9"])
                    for name, x in features.items()
                }
                chances = sess.run(model.probability, {features[name]: value for name, value in examples.items()})
        found = {name: value.tolist() for name, value in examples.items()}
        return {"export": folder, "examples": found, "chances": chances.tolist()}


def run_all(programs):
    for name in args.models:
        programs(name).run()
