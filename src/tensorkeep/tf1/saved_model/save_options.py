"""How objects are saved as a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.proto.messages import MetaGraphDef


@dataclass(frozen=True)
class SaveOptions:
    """TensorFlow's options. The device that writes is this machine's, and gradients that a program defines for its
    functions are not saved; what else cannot be done here is refused.
    """

    namespace_whitelist: Sequence[str] | None = None
    """The namespaces that ops may be of ("Addons>Op"); None for all."""
    save_debug_info: bool = False
    function_aliases: Mapping[str, Any] = field(default_factory=dict)
    experimental_debug_stripper: bool = False
    experimental_io_device: str | None = None
    experimental_variable_policy: Any = None
    experimental_custom_gradients: bool = True
    experimental_image_format: bool = False
    experimental_skip_saver: bool = False
    experimental_sharding_callback: Any = None
    extra_tags: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "function_aliases", dict(self.function_aliases or {}))
        if isinstance(self.namespace_whitelist, str):
            raise InvalidArgumentError("`namespace_whitelist` must be a list of strings.")
        if self.experimental_image_format:
            raise InvalidArgumentError("The option `experimental_image_format` is disabled in OSS.")
        names = ("save_debug_info", "experimental_debug_stripper", "experimental_variable_policy")
        refused = [name for name in (*names, "experimental_sharding_callback") if getattr(self, name)]
        if refused:
            raise UnimplementedError(f"models are not saved with {', '.join(refused)}; leave it out")

    def check_namespaces(self, meta_graph: MetaGraphDef) -> None:
        """InvalidArgumentError if the graph has ops of namespaces that are not on the list."""
        if self.namespace_whitelist is None:
            return
        used = {op.rpartition(">")[0] for op in _ops(meta_graph) if ">" in op}
        if wrong := sorted(used - set(self.namespace_whitelist)):
            raise InvalidArgumentError(
                "Attempted to save ops from non-whitelisted namespaces to SavedModel: "
                f"{wrong}.\nPlease verify that these ops should be saved, since they must be available when loading "
                "the SavedModel. If loading from Python, you must import the library defining these ops. From C++, "
                "link the custom ops to the serving binary. Once you've confirmed this, add the following namespaces "
                f"to the `namespace_whitelist` argument in tf.saved_model.SaveOptions: {wrong}."
            )


def _ops(meta_graph: MetaGraphDef) -> Iterator[str]:
    yield from (node.op for node in meta_graph.graph_def.node)
    yield from (node.op for function in meta_graph.graph_def.library.function for node in function.node_def)
