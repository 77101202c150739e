"""Wide and deep: a census in CSV files, crossed and bucketized columns, a canned estimator, exported for serving."""

import argparse
import json
import os
import sys

import numpy as np
import tensorflow as tf

_CSV_COLUMNS = ["age", "workclass", "education", "education_num", "occupation", "hours_per_week", "income_bracket"]
_CSV_COLUMN_DEFAULTS = [[0], [""], [""], [0], [""], [0], [""]]
WORK = ["Private", "Self-emp", "Federal-gov", "?"]
SCHOOL = ["Bachelors", "HS-grad", "11th", "Masters"]
JOBS = ["Sales", "Tech-support", "Craft-repair", "Exec", "Farming"]


def write_census(path, count, seed):
    random = np.random.RandomState(seed)
    with tf.gfile.Open(path, "w") as f:
        for _ in range(count):
            age, school, job = random.randint(17, 80), random.randint(4), random.randint(5)
            rich = age / 20.0 + school + (job == 3) * 2 + random.normal() > 5
            row = [age, WORK[random.randint(4)], SCHOOL[school], school * 4 + 1, JOBS[job], random.randint(10, 60)]
            f.write(",".join(str(x) for x in row + [">50K" if rich else "<=50K"]) + "\n")


def build_model_columns():
    age = tf.feature_column.numeric_column("age")
    education_num = tf.feature_column.numeric_column("education_num")
    hours_per_week = tf.feature_column.numeric_column(
        "hours_per_week", normalizer_fn=lambda x: (tf.to_float(x) - 35.0) / 15.0
    )
    education = tf.feature_column.categorical_column_with_vocabulary_list("education", SCHOOL)
    workclass = tf.feature_column.categorical_column_with_vocabulary_list("workclass", WORK[:3], num_oov_buckets=1)
    occupation = tf.feature_column.categorical_column_with_hash_bucket("occupation", hash_bucket_size=30)
    age_buckets = tf.feature_column.bucketized_column(age, boundaries=[18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    base_columns = [education, workclass, occupation, age_buckets]
    crossed_columns = [
        tf.feature_column.crossed_column(["education", "occupation"], hash_bucket_size=50),
        tf.feature_column.crossed_column([age_buckets, "education", "occupation"], hash_bucket_size=60),
    ]
    deep_columns = [
        age,
        education_num,
        hours_per_week,
        tf.feature_column.indicator_column(workclass),
        tf.feature_column.indicator_column(education),
        tf.feature_column.embedding_column(occupation, dimension=4),
    ]
    return base_columns + crossed_columns, deep_columns


def input_fn(data_file, num_epochs, shuffle, batch_size):
    assert tf.gfile.Exists(data_file), "%s not found." % data_file

    def parse_csv(value):
        columns = tf.decode_csv(value, record_defaults=_CSV_COLUMN_DEFAULTS)
        features = dict(zip(_CSV_COLUMNS, columns))
        labels = features.pop("income_bracket")
        return features, tf.equal(labels, ">50K")

    dataset = tf.data.TextLineDataset(data_file)
    if shuffle:
        dataset = dataset.shuffle(buffer_size=60, seed=4)
    dataset = dataset.map(parse_csv, num_parallel_calls=2)
    return dataset.repeat(num_epochs).batch(batch_size)


class Losses(tf.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def begin(self):
        self.loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
        operations = tf.get_default_graph().get_operations()
        self.train = [op.name for op in operations if op.type in ("AssignAdd", "AssignAddVariableOp")][-1]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


def main(_):
    out = FLAGS.out or os.path.dirname(FLAGS.restore)
    train, test = os.path.join(out, "adult.data"), os.path.join(out, "adult.test")
    if not tf.gfile.Exists(train):
        tf.gfile.MakeDirs(out)
        write_census(train, 60, 1)
        write_census(test, 20, 2)
    wide_columns, deep_columns = build_model_columns()
    config = tf.estimator.RunConfig(tf_random_seed=1).replace(
        session_config=tf.ConfigProto(device_count={"GPU": 0}), log_step_count_steps=2
    )
    model = tf.estimator.DNNLinearCombinedClassifier(
        model_dir=FLAGS.out or None,
        linear_feature_columns=wide_columns,
        dnn_feature_columns=deep_columns,
        dnn_hidden_units=[12, 6],
        dnn_dropout=0.1,
        config=config,
    )

    def measured(checkpoint):
        found = model.evaluate(lambda: input_fn(test, 1, False, 10), checkpoint_path=checkpoint)
        return {key: float(found[key]) for key in ("accuracy", "auc", "average_loss", "precision", "recall")}

    if FLAGS.restore:
        print(json.dumps({"measured": measured(FLAGS.restore)}))
        return
    hook = Losses()
    model.train(lambda: input_fn(train, None, True, 20), steps=6, hooks=[hook])
    feature_spec = tf.feature_column.make_parse_example_spec(wide_columns + deep_columns)
    exported = model.export_savedmodel(
        os.path.join(out, "export"),
        tf.estimator.export.build_parsing_serving_input_receiver_fn(feature_spec),
        strip_default_attrs=True,
    )
    told = {"losses": hook.losses, "first": out + "/model.ckpt-0", "last": model.latest_checkpoint()}
    told.update(measured=measured(told["last"]), loss=hook.loss.name, train=hook.train, exported=exported.decode())
    print(json.dumps(told))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=str, default="")
    parser.add_argument("--restore", type=str, default="")
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
