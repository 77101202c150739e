"""Small models for tests, saved by the native builder into memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.graph.building import building, device
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.signature_defs import predict_signature_def
from tensorkeep.tf1.functions.arrays.shapes import placeholder, placeholder_with_default
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.lookup_tables import (
    StaticHashTable,
    TextFileIndex,
    TextFileInitializer,
    tables_initializer,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import cast, multiply
from tensorkeep.tf1.saved_model.builder import GraphOptions, SavedModelBuilder
from tensorkeep.tf1.saved_model.session_loading import load
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.scopes import get_variable

WORDS = b"red\ngreen\n"


def store() -> MemoryFileSystem:
    """A file system with a list of words."""
    return MemoryFileSystem({"words/vocab.txt": WORDS})


def build_model(
    fs: FileSystem, directory: str = "m", *, as_text: bool = False, save: bool = True, **options: Any
) -> SavedModelBuilder:
    """A model with two meta graphs: "serve" has the signatures `serving_default` and `word`, "train" has `loss`."""
    builder = SavedModelBuilder(directory, fs=fs)
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        x = placeholder(FLOAT32, [None, 2], "x")
        scale = placeholder_with_default(constant(1.0), [], "scale")
        with device("/device:CPU:0"):
            w = get_variable("w", initializer=np.float32([[1, 2, 3], [4, 5, 6]]))
        y = multiply(matmul(x, w), scale, name="y")
        path = constant("words/vocab.txt", name="path")
        table = StaticHashTable(
            TextFileInitializer(path, STRING, TextFileIndex.WHOLE_LINE, INT64, TextFileIndex.LINE_NUMBER), -1
        )
        word = placeholder(STRING, [None], "word")
        place = cast(table.lookup(word), FLOAT32, name="place")
        session.run([global_variables_initializer(), tables_initializer()])
        signatures = {
            "serving_default": predict_signature_def({"x": x, "scale": scale}, {"y": y}),
            "word": predict_signature_def({"word": word}, {"place": place}),
        }
        settings = {
            "assets": get_collection(graph, GraphKeys.ASSET_FILEPATHS),
            "main_op": group(tables_initializer()),
            **options,
        }
        builder.add_meta_graph_and_variables(session, ["serve"], signatures, GraphOptions(**settings))
    with building(Graph()):
        w = get_variable("w", [2, 3])
        z = multiply(w, 2.0, name="z")
        builder.add_meta_graph(["train"], {"loss": predict_signature_def({"w": w}, {"z": z})})
    if save:
        builder.save(as_text=as_text)
    return builder


def run_model(
    fs: FileSystem, directory: str, fetches: Any, feeds: dict[str, Any], tags: tuple[str, ...] = ("serve",)
) -> Any:
    """What a model computes, loaded as TensorFlow 1 does it."""
    with Session(Graph(), filesystem=fs) as session:
        load(session, tags, directory)
        return session.run(fetches, feeds)


def y_of(fs: FileSystem, directory: str) -> list[list[float]]:
    """What `serving_default` of such a model gives for one row of ones."""
    found: list[list[float]] = run_model(fs, directory, "y:0", {"x:0": np.ones((1, 2), np.float32)}).tolist()
    return found
