"""Small graphs that ask for a great deal."""

from __future__ import annotations

from tensorkeep.proto.messages import GraphDef


def doubling_functions(count: int) -> GraphDef:
    """A chain of functions, each of which calls the next one twice."""
    graph_def = GraphDef()
    for number in range(count):
        function = graph_def.library.function.add()
        function.signature.name = f"f{number}"
        for args, name in ((function.signature.input_arg, "x"), (function.signature.output_arg, "y")):
            args.add(name=name, type=1)
        source = "x"
        for turn in ("a", "b"):
            node = function.node_def.add(name=turn, input=[source])
            if number + 1 < count:
                node.op = "StatefulPartitionedCall"
                node.attr["f"].func.name = f"f{number + 1}"
                node.attr["Tin"].list.type.append(1)
                node.attr["Tout"].list.type.append(1)
                source = f"{turn}:output:0"
            else:
                node.op = "Neg"
                node.attr["T"].type = 1
                source = f"{turn}:y:0"
        function.ret["y"] = source
    x = graph_def.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = 1
    call = graph_def.node.add(name="y", op="StatefulPartitionedCall", input=["x"])
    call.attr["f"].func.name = "f0"
    call.attr["Tin"].list.type.append(1)
    call.attr["Tout"].list.type.append(1)
    return graph_def
