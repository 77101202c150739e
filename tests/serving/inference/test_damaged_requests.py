"""Requests that were damaged on the way: an answer or one of our errors, and nothing else."""

from __future__ import annotations

import asyncio
import logging
import random

import numpy as np
import pytest

from tensorkeep.errors import TensorKeepError
from tensorkeep.proto.messages import Example
from tensorkeep.proto.serving import PredictRequest, RegressionRequest
from tensorkeep.proto.tensors import listed_tensor
from tensorkeep.serving.inference.service import Inference
from tensorkeep.serving.models import GRPC, Call
from tensorkeep.serving.rpc.methods import parse_received
from tests.support.serving import StandInModels, golden_servable


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with some of them changed, left out or put in twice."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed))
        kind = chance.randrange(3)
        if kind == 0:
            changed[at] = chance.randrange(256)
        elif kind == 1:
            del changed[at : at + chance.randint(1, 4)]
        else:
            changed[at:at] = changed[at : at + chance.randint(1, 8)]
        if not changed:
            return b""
    return bytes(changed)


def test_damaged_requests_are_answered_or_refused(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    inference = Inference(
        StandInModels([golden_servable("g26_tf1_simple_save"), golden_servable("g27_tf1_multi", "e")])
    )
    predict = PredictRequest()
    predict.model_spec.name = "m"
    listed_tensor(np.ones((1, 6), np.float32), into=predict.inputs["features"])
    regress = RegressionRequest()
    regress.model_spec.name, regress.model_spec.signature_name = "e", "regress"
    example = Example()
    example.features.feature["w"].float_list.value.extend([1, 2, 3])
    regress.input.example_list.examples.append(example)

    async def ask(data: bytes, kind: str) -> bool:
        try:
            if kind == "predict":
                await inference.predict(parse_received(PredictRequest, data), Call(GRPC, "Predict"))
            else:
                await inference.regress(data, Call(GRPC, "Regress"))
        except TensorKeepError:
            return False
        return True

    async def work() -> None:
        chance = random.Random(7)
        for kind, whole in (("predict", predict.SerializeToString()), ("regress", regress.SerializeToString())):
            assert await ask(whole, kind)
            for _ in range(150):
                await ask(damaged(whole, chance), kind)

    asyncio.run(work())
    assert not caplog.records
