"""Every public function of `tf` that takes a path takes text, bytes and `os.PathLike`, and does the same with each."""

from __future__ import annotations

import inspect
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.v1.tables import SPACES

At = Callable[[str], Any]
"""Spells a path as text, as bytes or as an `os.PathLike`."""


def graph() -> tf.Graph:
    made = tf.Graph()
    with made.as_default():
        tf.get_variable("a", initializer=np.zeros(2, np.float32))
        tf.train.create_global_step()
        tf.placeholder(tf.float32, [], name="x")
    return made


def in_session(work: Callable[[tf.Session], Any]) -> Any:
    with graph().as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return work(session)


def in_graph(work: Callable[[], Any]) -> Any:
    with graph().as_default():
        return work()


def monitored(**places: Any) -> None:
    with graph().as_default(), tf.train.MonitoredTrainingSession(**places) as session:
        session.run("global_step:0")


def with_file(file: Any) -> Any:
    with file:
        return file.read()


def line_of(filename: Any) -> Any:
    return in_session(lambda session: session.run(tf.data.make_one_shot_iterator(filename).get_next()))


def saver() -> tf.train.Saver:
    return tf.train.Saver()


def increments() -> tf.train.Saver:
    return tf.train.Saver(incremental_save_restore=True)


def estimator(model_dir: Any, **more: Any) -> Any:
    return tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], model_dir=model_dir, **more)


def examples() -> Any:
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat(2)


def trained(model_dir: Any, **more: Any) -> Any:
    made = estimator(model_dir, **more)
    made.train(examples, steps=1)
    return made


def receiver() -> Any:
    return tf.estimator.export.ServingInputReceiver(
        {"x": tf.placeholder(tf.float32, [None, 1])}, {"x": tf.zeros([1, 1])}
    )


def base_name(path: Any) -> str:
    return re.sub(r"[0-9]{10}", "TIME", os.path.basename(os.fsdecode(path).rstrip("/")))


def layers(**more: Any) -> Any:
    return tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones", **more)])


def compiled() -> Any:
    model = layers()
    model.compile("sgd", "mse")
    return model


def in_keras(work: Callable[[Any], Any]) -> Any:
    with tf.Graph().as_default(), tf.Session():
        return work(compiled())


def fit(model: Any, *callbacks: Any) -> None:
    model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=list(callbacks))


def write_mnist(at: At) -> Any:
    return tf.contrib.learn.datasets.mnist.read_data_sets(at("digits"), validation_size=0).train.images.shape


def iterate_pictures(directory: Any) -> Any:
    generator = tf.keras.preprocessing.image.ImageDataGenerator()
    found = generator.flow_from_directory(directory, target_size=(2, 2))
    other = tf.keras.preprocessing.image.DirectoryIterator(directory, generator, target_size=(2, 2))
    return found.filenames, next(found)[0].shape, other.filenames


def hooked(hook: Any) -> None:
    with graph().as_default(), tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run("global_step:0")


def column_of(column: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.feature_column.input_layer({"w": [["b"]]}, tf.feature_column.indicator_column(column))
        session.run(tf.tables_initializer())
        return session.run(found)


def export_of(made: Any, export: str, at: At) -> Any:
    base_name(getattr(made, export)(at("exports"), receiver, checkpoint_path=at("trained/model.ckpt-1")))


def exported(exporter: Any, at: At) -> Any:
    return bool(exporter.export(estimator("trained"), at("exports"), at("trained/model.ckpt-1"), {"loss": 1.0}, True))


def learned(at: At) -> Any:
    def model(features: Any, labels: Any, mode: Any) -> Any:
        return features, tf.reduce_sum(features), tf.assign_add(tf.train.get_global_step(), 1)

    made = tf.contrib.learn.Estimator(model, model_dir=at("learned"))
    made.fit(input_fn=lambda: (tf.ones([1]), None), steps=1)
    return made


def built(at: At) -> Any:
    builder = tf.saved_model.Builder(at("model"))
    in_session(lambda session: builder.add_meta_graph_and_variables(session, ["serve"]))
    return builder.save()


def updated(at: At) -> Any:
    updater = tf.saved_model.signature_def_utils.MethodNameUpdater(at("exported"))
    updater.replace_method_name("serving_default", "mine")
    updater.save(at("renamed"))


def prepared(at: At, **more: Any) -> Any:
    manager = tf.train.SessionManager()
    session = manager.prepare_session("", init_op=tf.global_variables_initializer(), saver=saver(), **more)
    recovered = manager.recover_session("", saver(), **more)[1]
    return session.run("a:0"), recovered


CHECKPOINT = "run/model-1"

CALLS: dict[str, Callable[[At], Any]] = {
    "load_library": lambda at: tf.load_library(at("ops.so")),
    "contrib.framework.assign_from_checkpoint": lambda at: in_graph(
        lambda: len(tf.contrib.framework.assign_from_checkpoint(at(CHECKPOINT), tf.global_variables())[1])
    ),
    "contrib.framework.assign_from_checkpoint, missing": lambda at: in_graph(
        lambda: tf.contrib.framework.assign_from_checkpoint(at(CHECKPOINT), {"no": tf.global_variables()[0]})
    ),
    "contrib.framework.assign_from_checkpoint_fn": lambda at: in_session(
        lambda session: tf.contrib.framework.assign_from_checkpoint_fn(
            at(CHECKPOINT), tf.global_variables(), ignore_missing_vars=True
        )(session)
    ),
    "contrib.layers.sparse_column_with_vocabulary_file": lambda at: (
        tf.contrib.layers.sparse_column_with_vocabulary_file("w", at("words.txt"), vocab_size=2).name
    ),
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_file": lambda at: (
        tf.contrib.feature_column.sequence_categorical_column_with_vocabulary_file("w", at("words.txt")).name
    ),
    "feature_column.categorical_column_with_vocabulary_file": lambda at: column_of(
        tf.feature_column.categorical_column_with_vocabulary_file("w", at("words.txt"))
    ),
    "contrib.predictor.from_saved_model": lambda at: tf.contrib.predictor.from_saved_model(at("exported"))({"x": 1.0}),
    "contrib.summary.create_file_writer": lambda at: in_session(
        lambda session: session.run(tf.contrib.summary.create_file_writer(at("logs")).init())
    ),
    "contrib.summary.eval_dir": lambda at: tf.contrib.summary.eval_dir(at("trained"), "first"),
    "contrib.tensorboard.plugins.projector.visualize_embeddings": lambda at: (
        tf.contrib.tensorboard.plugins.projector.visualize_embeddings(
            at("logs"), tf.contrib.tensorboard.plugins.projector.ProjectorConfig()
        )
    ),
    "contrib.training.SummaryAtEndHook": lambda at: hooked(tf.contrib.training.SummaryAtEndHook(at("logs"))),
    "contrib.training.evaluate_once": lambda at: in_graph(
        lambda: tf.contrib.training.evaluate_once(at(CHECKPOINT), final_ops=tf.train.get_global_step() * 1)
    ),
    "contrib.training.evaluate_repeatedly": lambda at: in_graph(
        lambda: tf.contrib.training.evaluate_repeatedly(
            at("run"), final_ops=tf.train.get_global_step() * 1, max_number_of_evaluations=1
        )
    ),
    "contrib.training.train": lambda at: in_graph(
        lambda: tf.contrib.training.train(
            tf.assign_add(tf.train.get_global_step(), 1),
            at("logs"),
            hooks=[tf.train.StopAtStepHook(1)],
            save_summaries_steps=None,
        )
    ),
    "contrib.training.wait_for_new_checkpoint": lambda at: tf.contrib.training.wait_for_new_checkpoint(at("run")),
    "contrib.learn.Estimator": lambda at: learned(at).model_dir,
    "contrib.learn.Estimator.evaluate": lambda at: learned(at).evaluate(
        input_fn=lambda: (tf.ones([1]), None), steps=1, checkpoint_path=at("learned/model.ckpt-1")
    ),
    "contrib.learn.Estimator.export_savedmodel": lambda at: learned(at).export_savedmodel(
        at("exports"), receiver, checkpoint_path=at("learned/model.ckpt-1")
    ),
    "contrib.learn.DNNClassifier": lambda at: (
        tf.contrib.learn.DNNClassifier(
            [3], [tf.contrib.layers.real_valued_column("x")], model_dir=at("learned")
        ).model_dir
    ),
    "contrib.learn.DNNRegressor": lambda at: (
        tf.contrib.learn.DNNRegressor(
            [3], [tf.contrib.layers.real_valued_column("x")], model_dir=at("learned")
        ).model_dir
    ),
    "contrib.learn.LinearClassifier": lambda at: (
        tf.contrib.learn.LinearClassifier(
            [tf.contrib.layers.real_valued_column("x")], model_dir=at("learned")
        ).model_dir
    ),
    "contrib.learn.LinearRegressor": lambda at: (
        tf.contrib.learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], model_dir=at("learned")).model_dir
    ),
    "contrib.learn.DNNLinearCombinedClassifier": lambda at: (
        tf.contrib.learn.DNNLinearCombinedClassifier(
            model_dir=at("learned"), linear_feature_columns=[tf.contrib.layers.real_valued_column("x")]
        ).model_dir
    ),
    "contrib.learn.DNNLinearCombinedRegressor": lambda at: (
        tf.contrib.learn.DNNLinearCombinedRegressor(
            model_dir=at("learned"), linear_feature_columns=[tf.contrib.layers.real_valued_column("x")]
        ).model_dir
    ),
    "contrib.learn.RunConfig": lambda at: tf.contrib.learn.RunConfig(model_dir=at("learned")).model_dir,
    "contrib.learn.datasets.base.load_csv_with_header": lambda at: (
        tf.contrib.learn.datasets.base.load_csv_with_header(at("with.csv"), np.int64, np.float32).data
    ),
    "contrib.learn.datasets.base.load_csv_without_header": lambda at: (
        tf.contrib.learn.datasets.base.load_csv_without_header(at("without.csv"), np.int64, np.float32).data
    ),
    "contrib.learn.datasets.base.maybe_download": lambda at: tf.contrib.learn.datasets.base.maybe_download(
        "words.txt", at("."), "http://x"
    ),
    "contrib.learn.datasets.mnist.read_data_sets": write_mnist,
    "contrib.learn.learn_runner.run": lambda at: tf.contrib.learn.learn_runner.run(
        lambda output_dir: tf.contrib.learn.Experiment(estimator(output_dir), examples, examples, train_steps=1),
        output_dir=at("learned"),
        schedule="train",
    ),
    "contrib.learn.monitors.CheckpointSaver": lambda at: in_graph(
        lambda: tf.contrib.learn.monitors.CheckpointSaver(at("logs"), save_steps=1).begin()
    ),
    "contrib.learn.monitors.StepCounter": lambda at: tf.contrib.learn.monitors.StepCounter(output_dir=at("logs")),
    "contrib.learn.monitors.SummarySaver": lambda at: tf.contrib.learn.monitors.SummarySaver(
        None, output_dir=at("logs")
    ),
    "contrib.learn.monitors.get_default_monitors": lambda at: len(
        tf.contrib.learn.monitors.get_default_monitors(summary_op="x", output_dir=at("logs"))
    ),
    "contrib.learn.preprocessing.VocabularyProcessor.save": lambda at: (
        tf.contrib.learn.preprocessing.VocabularyProcessor(3).save(at("processor"))
    ),
    "contrib.learn.preprocessing.VocabularyProcessor.restore": lambda at: (
        tf.contrib.learn.preprocessing.VocabularyProcessor.restore(at("nothing"))
    ),
    "contrib.slim.evaluation.evaluate_once": lambda at: in_graph(
        lambda: tf.contrib.slim.evaluation.evaluate_once("", at(CHECKPOINT), at("logs"))
    ),
    "contrib.slim.evaluation.evaluation_loop": lambda at: in_graph(
        lambda: tf.contrib.slim.evaluation.evaluation_loop("", at("run"), at("logs"), max_number_of_evaluations=1)
    ),
    "contrib.slim.learning.train": lambda at: in_graph(
        lambda: tf.contrib.slim.learning.train(
            tf.to_float(tf.assign_add(tf.train.get_global_step(), 1)),
            at("logs"),
            number_of_steps=1,
            save_summaries_secs=None,
            log_every_n_steps=0,
        )
    ),
    "contrib.estimator.export_all_saved_models": lambda at: base_name(
        tf.contrib.estimator.export_all_saved_models(
            estimator("trained"),
            at("exports"),
            {tf.estimator.ModeKeys.PREDICT: receiver},
            checkpoint_path=at("trained/model.ckpt-1"),
        )
    ),
    "contrib.estimator.export_saved_model_for_mode": lambda at: base_name(
        tf.contrib.estimator.export_saved_model_for_mode(
            estimator("trained"), at("exports"), receiver, checkpoint_path=at("trained/model.ckpt-1")
        )
    ),
    "contrib.estimator.read_eval_metrics": lambda at: dict(tf.contrib.estimator.read_eval_metrics(at("trained"))) != {},
    "contrib.estimator.stop_if_higher_hook": lambda at: bool(
        tf.contrib.estimator.stop_if_higher_hook(estimator("trained"), "loss", 1.0, eval_dir=at("trained"))
    ),
    "contrib.estimator.stop_if_lower_hook": lambda at: bool(
        tf.contrib.estimator.stop_if_lower_hook(estimator("trained"), "loss", 1.0, eval_dir=at("trained"))
    ),
    "contrib.estimator.stop_if_no_decrease_hook": lambda at: bool(
        tf.contrib.estimator.stop_if_no_decrease_hook(estimator("trained"), "loss", 1, eval_dir=at("trained"))
    ),
    "contrib.estimator.stop_if_no_increase_hook": lambda at: bool(
        tf.contrib.estimator.stop_if_no_increase_hook(estimator("trained"), "loss", 1, eval_dir=at("trained"))
    ),
    "estimator.LinearRegressor": lambda at: trained(at("trying")).model_dir,
    "estimator.Estimator.evaluate": lambda at: estimator("trained").evaluate(
        examples, steps=1, checkpoint_path=at("trained/model.ckpt-1")
    )["global_step"],
    "estimator.Estimator.predict": lambda at: (
        next(estimator("trained").predict(examples, checkpoint_path=at("trained/model.ckpt-1")))["predictions"].shape
    ),
    "estimator.Estimator.export_saved_model": lambda at: export_of(estimator("trained"), "export_saved_model", at),
    "estimator.Estimator.export_savedmodel": lambda at: export_of(estimator("trained"), "export_savedmodel", at),
    "estimator.Estimator.experimental_export_all_saved_models": lambda at: base_name(
        estimator("trained").experimental_export_all_saved_models(
            at("exports"), {tf.estimator.ModeKeys.PREDICT: receiver}, checkpoint_path=at("trained/model.ckpt-1")
        )
    ),
    "estimator.WarmStartSettings": lambda at: (
        trained("other", warm_start_from=tf.estimator.WarmStartSettings(at("trained"))).model_dir
    ),
    "estimator.Estimator, warm start": lambda at: trained("other", warm_start_from=at("trained")).model_dir,
    "estimator.RunConfig": lambda at: tf.estimator.RunConfig(model_dir=at("trying")).model_dir,
    "estimator.FinalExporter.export": lambda at: exported(tf.estimator.FinalExporter("e", receiver), at),
    "estimator.LatestExporter.export": lambda at: exported(
        tf.estimator.LatestExporter("e", receiver, exports_to_keep=1), at
    ),
    "estimator.BestExporter.export": lambda at: exported(
        tf.estimator.BestExporter(serving_input_receiver_fn=receiver, exports_to_keep=1), at
    ),
    "train.CheckpointSaverHook": lambda at: hooked(
        in_graph(lambda: tf.train.CheckpointSaverHook(at("logs"), save_steps=1))
    ),
    "train.ProfilerHook": lambda at: hooked(tf.train.ProfilerHook(save_steps=1, output_dir=at("logs"))),
    "train.StepCounterHook": lambda at: hooked(tf.train.StepCounterHook(output_dir=at("logs"))),
    "train.SummarySaverHook": lambda at: hooked(
        tf.train.SummarySaverHook(1, output_dir=at("logs"), scaffold=tf.train.Scaffold())
    ),
    "keras.callbacks.CSVLogger": lambda at: in_keras(
        lambda model: fit(model, tf.keras.callbacks.CSVLogger(at("log.csv")))
    ),
    "keras.callbacks.ModelCheckpoint": lambda at: in_keras(
        lambda model: fit(model, tf.keras.callbacks.ModelCheckpoint(at("weights.{epoch}.h5")))
    ),
    "keras.callbacks.TensorBoard": lambda at: in_keras(
        lambda model: fit(model, tf.keras.callbacks.TensorBoard(at("logs")))
    ),
    "keras.datasets.boston_housing.load_data": lambda at: tf.keras.datasets.boston_housing.load_data(at("no.npz")),
    "keras.datasets.imdb.load_data": lambda at: tf.keras.datasets.imdb.load_data(at("no.npz")),
    "keras.datasets.imdb.get_word_index": lambda at: tf.keras.datasets.imdb.get_word_index(at("no.json")),
    "keras.datasets.mnist.load_data": lambda at: tf.keras.datasets.mnist.load_data(at("no.npz")),
    "keras.datasets.reuters.load_data": lambda at: tf.keras.datasets.reuters.load_data(at("no.npz")),
    "keras.datasets.reuters.get_word_index": lambda at: tf.keras.datasets.reuters.get_word_index(at("no.json")),
    "keras.utils.get_file": lambda at: tf.keras.utils.get_file(
        at("kept.txt"), Path("words.txt").absolute().as_uri(), cache_dir=at("kept")
    ),
    "keras.preprocessing.image.load_img": lambda at: (
        tf.keras.preprocessing.image.load_img(at("pictures/a/one.png")).size
    ),
    "keras.preprocessing.image.save_img": lambda at: tf.keras.preprocessing.image.save_img(
        at("saved.png"), np.zeros((2, 2, 3))
    ),
    "keras.preprocessing.image.ImageDataGenerator.flow_from_directory": lambda at: iterate_pictures(at("pictures")),
    "keras.preprocessing.image.DirectoryIterator": lambda at: iterate_pictures(at("pictures")),
    "keras.Model.save_weights": lambda at: in_keras(lambda model: model.save_weights(at("weights"))),
    "keras.Model.load_weights": lambda at: in_keras(lambda model: model.load_weights(at("weights.h5"))),
    "keras.Model.save": lambda at: in_keras(lambda model: model.save(at("model.h5"))),
    "keras.models.save_model": lambda at: in_keras(lambda model: tf.keras.models.save_model(model, at("model.h5"))),
    "keras.models.load_model": lambda at: in_keras(
        lambda model: tf.keras.models.load_model(at("kept.h5")).count_params()
    ),
    "keras.experimental.export_saved_model": lambda at: in_keras(
        lambda model: tf.keras.experimental.export_saved_model(model, at("of_keras"))
    ),
    "keras.experimental.load_from_saved_model": lambda at: in_keras(
        lambda model: tf.keras.experimental.load_from_saved_model(at("kept_of_keras")).count_params()
    ),
    "keras.estimator.model_to_estimator": lambda at: (
        tf.keras.estimator.model_to_estimator(keras_model_path=at("kept.h5"), model_dir=at("of_estimator")).model_dir
    ),
    "random.fixed_unigram_candidate_sampler": lambda at: in_session(
        lambda session: session.run(
            tf.random.fixed_unigram_candidate_sampler([[0]], 1, 1, False, 2, at("counts.csv"), seed=1)
        )
    ),
    "summary.FileWriter": lambda at: tf.summary.FileWriter(at("logs")).close(),
    "summary.FileWriterCache.get": lambda at: tf.summary.FileWriterCache.get(at("logs")).get_logdir(),
    "train.Checkpoint.write": lambda at: in_session(
        lambda session: tf.train.Checkpoint(a=tf.global_variables()[0]).write(at("objects/a"), session)
    ),
    "train.Checkpoint.save": lambda at: in_session(
        lambda session: tf.train.Checkpoint(a=tf.global_variables()[0]).save(at("objects/a"), session)
    ),
    "train.Checkpoint.read": lambda at: in_graph(lambda: bool(tf.train.Checkpoint().read(at("objects/b")))),
    "train.Checkpoint.restore": lambda at: in_graph(lambda: bool(tf.train.Checkpoint().restore(at("objects/b")))),
    "train.Checkpoint.restore, missing": lambda at: in_graph(
        lambda: bool(tf.train.Checkpoint().restore(at("objects/c")))
    ),
    "train.CheckpointManager": lambda at: (
        tf.train.CheckpointManager(tf.train.Checkpoint(), at("run"), 1).latest_checkpoint
    ),
    "train.ChiefSessionCreator": lambda at: in_graph(
        lambda: tf.train.ChiefSessionCreator(checkpoint_dir=at("run")).create_session().run("a:0")
    ),
    "train.ChiefSessionCreator, by file": lambda at: in_graph(
        lambda: tf.train.ChiefSessionCreator(checkpoint_filename_with_path=at(CHECKPOINT)).create_session().run("a:0")
    ),
    "train.MonitoredTrainingSession": lambda at: monitored(checkpoint_dir=at("logs"), summary_dir=at("summaries")),
    "train.SingularMonitoredSession": lambda at: in_graph(
        lambda: tf.train.SingularMonitoredSession(checkpoint_dir=at("run")).run("a:0")
    ),
    "train.SessionManager.prepare_session": lambda at: in_graph(lambda: prepared(at, checkpoint_dir=at("run"))),
    "train.SessionManager.recover_session": lambda at: in_graph(
        lambda: prepared(at, checkpoint_filename_with_path=at(CHECKPOINT))
    ),
    "train.Supervisor": lambda at: in_graph(lambda: tf.train.Supervisor(logdir=at("logs")).stop()),
    "train.NewCheckpointReader": lambda at: tf.train.NewCheckpointReader(at(CHECKPOINT)).get_variable_to_shape_map(),
    "train.NewCheckpointReader, missing": lambda at: tf.train.NewCheckpointReader(at("run/none")),
    "train.Saver": lambda at: in_session(
        lambda session: tf.train.Saver(filename=at("logs/f")).save(session, at("logs/m"))
    ),
    "train.Saver.save": lambda at: in_session(lambda session: saver().save(session, at("logs/m"), 1)),
    "train.Saver.restore": lambda at: in_session(lambda session: saver().restore(session, at(CHECKPOINT))),
    "train.Saver.restore, missing": lambda at: in_session(lambda session: saver().restore(session, at("run/none"))),
    "train.Saver.export_meta_graph": lambda at: in_graph(
        lambda: saver().export_meta_graph(at("g.meta")).ByteSize() > 0
    ),
    "train.Saver.incremental_save": lambda at: in_session(
        lambda session: increments().incremental_save(session, at("run/.incremental_checkpoint/m"), 1)
    ),
    "train.Saver.incremental_restore": lambda at: in_session(
        lambda session: increments().incremental_restore(session, at(CHECKPOINT))
    ),
    "train.Saver.recover_incr_checkpoints": lambda at: in_session(
        lambda session: increments().recover_incr_checkpoints(session, at("run"))
    ),
    "train.checkpoint_exists": lambda at: tf.train.checkpoint_exists(at(CHECKPOINT)),
    "train.checkpoints_iterator": lambda at: next(iter(tf.train.checkpoints_iterator(at("run"), timeout=0))),
    "train.export_meta_graph": lambda at: in_graph(lambda: tf.train.export_meta_graph(at("g.meta")).ByteSize() > 0),
    "train.import_meta_graph": lambda at: in_graph(lambda: bool(tf.train.import_meta_graph(at(f"{CHECKPOINT}.meta")))),
    "train.generate_checkpoint_state_proto": lambda at: tf.train.generate_checkpoint_state_proto(
        at("run"), at(CHECKPOINT), [at("run/model-0"), at(CHECKPOINT)]
    ),
    "train.update_checkpoint_state": lambda at: tf.train.update_checkpoint_state(
        at("run"), at(CHECKPOINT), [at("run/model-0"), at(CHECKPOINT)]
    ),
    "train.get_checkpoint_mtimes": lambda at: len(tf.train.get_checkpoint_mtimes([at(CHECKPOINT)])),
    "train.get_checkpoint_state": lambda at: tf.train.get_checkpoint_state(at("run")),
    "train.latest_checkpoint": lambda at: tf.train.latest_checkpoint(at("run")),
    "train.remove_checkpoint": lambda at: tf.train.remove_checkpoint(at(CHECKPOINT)),
    "train.init_from_checkpoint": lambda at: in_graph(
        lambda: tf.train.init_from_checkpoint(at(CHECKPOINT), {"a": "a"})
    ),
    "train.warm_start": lambda at: in_graph(lambda: tf.train.warm_start(at(CHECKPOINT))),
    "train.list_variables": lambda at: tf.train.list_variables(at("run")),
    "train.load_variable": lambda at: tf.train.load_variable(at("run"), "a"),
    "train.load_checkpoint": lambda at: tf.train.load_checkpoint(at("run")).has_tensor("a"),
    "train.summary_iterator": lambda at: list(tf.train.summary_iterator(at("no.events"))),
    "train.write_graph": lambda at: tf.train.write_graph(graph(), at("graphs"), at("g.pbtxt")),
    "gfile.Copy": lambda at: tf.gfile.Copy(at("words.txt"), at("copied.txt")),
    "gfile.DeleteRecursively": lambda at: tf.gfile.DeleteRecursively(at("run")),
    "gfile.Exists": lambda at: tf.gfile.Exists(at("run")),
    "gfile.FastGFile": lambda at: with_file(tf.gfile.FastGFile(at("words.txt"))),
    "gfile.Glob": lambda at: sorted(tf.gfile.Glob(at("run/*"))),
    "gfile.IsDirectory": lambda at: tf.gfile.IsDirectory(at("run")),
    "gfile.ListDirectory": lambda at: sorted(tf.gfile.ListDirectory(at("run"))),
    "gfile.MakeDirs": lambda at: tf.gfile.MakeDirs(at("new/one")),
    "gfile.MkDir": lambda at: tf.gfile.MkDir(at("new")),
    "gfile.Remove": lambda at: tf.gfile.Remove(at("words.txt")),
    "gfile.Rename": lambda at: tf.gfile.Rename(at("words.txt"), at("renamed.txt")),
    "gfile.Stat": lambda at: tf.gfile.Stat(at("words.txt")).length,
    "gfile.Walk": lambda at: list(tf.gfile.Walk(at("pictures"))),
    "io.gfile.copy": lambda at: tf.io.gfile.copy(at("words.txt"), at("copied.txt")),
    "io.gfile.exists": lambda at: tf.io.gfile.exists(at("run")),
    "io.gfile.glob": lambda at: sorted(tf.io.gfile.glob(at("run/*"))),
    "io.gfile.isdir": lambda at: tf.io.gfile.isdir(at("run")),
    "io.gfile.join": lambda at: os.fsdecode(tf.io.gfile.join(at("run"), at("model"))),
    "io.gfile.listdir": lambda at: sorted(tf.io.gfile.listdir(at("run"))),
    "io.gfile.makedirs": lambda at: tf.io.gfile.makedirs(at("new/one")),
    "io.gfile.mkdir": lambda at: tf.io.gfile.mkdir(at("new")),
    "io.gfile.remove": lambda at: tf.io.gfile.remove(at("words.txt")),
    "io.gfile.rename": lambda at: tf.io.gfile.rename(at("words.txt"), at("renamed.txt")),
    "io.gfile.rmtree": lambda at: tf.io.gfile.rmtree(at("run")),
    "io.gfile.stat": lambda at: tf.io.gfile.stat(at("words.txt")).length,
    "io.gfile.walk": lambda at: list(tf.io.gfile.walk(at("pictures"))),
    "io.TFRecordWriter": lambda at: tf.io.TFRecordWriter(at("new.tfrecord")).close(),
    "io.tf_record_iterator": lambda at: list(tf.io.tf_record_iterator(at("records"))),
    "compat.path_to_bytes": lambda at: tf.compat.path_to_bytes(at("run")),
    "compat.path_to_str": lambda at: os.fsdecode(tf.compat.path_to_str(at("run"))),
    "profiler.ProfileOptionBuilder.with_pprof_output": lambda at: (
        tf.profiler.ProfileOptionBuilder().with_pprof_output(at("out")).build()
    ),
    "profiler.ProfileOptionBuilder.with_timeline_output": lambda at: (
        tf.profiler.ProfileOptionBuilder().with_timeline_output(at("out")).build()
    ),
    "saved_model.Builder": built,
    "saved_model.contains_saved_model": lambda at: tf.saved_model.contains_saved_model(at("exported")),
    "saved_model.load": lambda at: in_session(
        lambda session: len(tf.saved_model.loader.load(session, ["serve"], at("exported")).graph_def.node)
    ),
    "saved_model.load_v2": lambda at: in_graph(lambda: sorted(tf.saved_model.load_v2(at("exported")).signatures)),
    "saved_model.save": lambda at: in_session(lambda session: tf.saved_model.save(tf.Module(), at("model"))),
    "saved_model.simple_save": lambda at: in_session(
        lambda session: tf.saved_model.simple_save(session, at("model"), {"x": tf.zeros(1)}, {"y": tf.zeros(1)})
    ),
    "saved_model.signature_def_utils.MethodNameUpdater": updated,
    "saved_model.signature_def_utils.MethodNameUpdater.save": updated,
    "test.test_src_dir_path": lambda at: tf.test.test_src_dir_path(at("run")),
}


def make_world() -> None:
    """The files that the calls read, in the folder in which the program works."""
    with graph().as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver().save(session, CHECKPOINT)
        x = tf.get_default_graph().get_tensor_by_name("x:0")
        tf.saved_model.simple_save(session, "exported", {"x": x}, {"y": x + 1.0})
        tf.train.Checkpoint(a=tf.global_variables()[0]).write("objects/b", session)
    trained("trained")
    Path("words.txt").write_text("a\nb\n")
    Path("counts.csv").write_text("a,1\nb,2\n")
    Path("with.csv").write_text("1,2,x,y\n1,2,0\n")
    Path("without.csv").write_text("1,2,0\n")
    with tf.io.TFRecordWriter("records") as writer:
        writer.write(b"one")
    Path("pictures/a").mkdir(parents=True)
    tf.keras.preprocessing.image.save_img("pictures/a/one.png", np.zeros((2, 2, 3)))

    def keep(model: Any) -> None:
        model.save("kept.h5")
        model.save_weights("weights.h5")
        tf.keras.experimental.export_saved_model(model, "kept_of_keras")

    in_keras(keep)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    before = Path.cwd()
    os.chdir(folder)
    try:
        make_world()
    finally:
        os.chdir(before)
    return folder


def outcome(call: Callable[[At], Any], at: At) -> tuple[str, list[str]]:
    """What a call gives, or its error, and the names of the files that are there afterwards."""
    try:
        found = re.sub(r" at 0x[0-9a-f]+|\d{9,}", "", repr(call(at)))
    except tk.TensorKeepError as error:
        found = f"{type(error).__name__}: {error}"
    names = sorted(re.sub(r"\d{9,}[^/]*", "TIME", path.as_posix()) for path in Path().rglob("*"))
    return found, names


SPELLINGS: dict[str, At] = {"bytes": os.fsencode, "os.PathLike": Path}


@pytest.mark.parametrize("name", list(CALLS))
def test_a_path_is_the_same_as_text_as_bytes_and_as_a_path_object(
    name: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    results = {}
    for kind, at in {"text": str, **SPELLINGS}.items():
        folder = tmp_path / kind
        shutil.copytree(world, folder, copy_function=os.link)  # what is written is written anew, and put in place
        monkeypatch.chdir(folder)
        results[kind] = outcome(CALLS[name], at)
        tf.summary.FileWriterCache.clear()
    assert results["bytes"] == results["text"]
    assert results["os.PathLike"] == results["text"]
    assert not any("b'" in path for path in results["bytes"][1])


NO_PATHS = {
    "train.Checkpoint.write_to": "what `write` does",
    "train.Checkpoint.restore_from": "what `restore` does",
    "estimator.Exporter.export": "is that of the classes below it",
}
"""Functions of classes that programs do not call."""


def function_of(item: Any) -> Any:
    return getattr(item, "__func__", item)


def public_items() -> Iterator[tuple[str, Any]]:
    """Functions and classes that programs find below `tf`, and the methods of these classes."""
    for space in SPACES:
        module = reduce(getattr, space.split(".") if space else [], tf)
        for name in dir(module):
            item = getattr(module, name, None)
            if name.startswith("_") or not callable(item):
                continue
            path = f"{space}.{name}".lstrip(".")
            yield path, item
            if inspect.isclass(item):
                methods = inspect.getmembers(item, lambda of: inspect.isfunction(of) or inspect.ismethod(of))
                yield from ((f"{path}.{method}", of) for method, of in methods if not method.startswith("_"))


def takes_a_path(item: Any) -> bool:
    try:
        parameters = inspect.signature(item).parameters.values()
    except (TypeError, ValueError):
        return False
    return any("PathLike" in str(each.annotation) or "PathOrBytes" in str(each.annotation) for each in parameters)


def test_every_function_that_takes_a_path_is_called() -> None:
    called = {function_of(reduce(getattr, name.partition(",")[0].split("."), tf)) for name in CALLS}
    # What estimators have in common is tried with one of them.
    shared = {each.__init__ for each in called if inspect.isclass(each)}
    lacking = [
        name
        for name, item in public_items()
        if takes_a_path(item)
        and function_of(item) not in called
        and name not in NO_PATHS
        and not (inspect.isclass(item) and issubclass(item, tf.estimator.Estimator))
        and getattr(item, "__init__", None) not in shared
    ]
    assert sorted(lacking) == []
