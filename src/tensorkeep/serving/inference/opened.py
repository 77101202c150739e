"""A request whose model has been found and is held: what can be asked of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple, TypeVar

from tensorkeep.arrays import Array
from tensorkeep.dtypes import STRING, DType, dtype_of_array
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.proto.messages import SignatureDef, TensorProto, parse, serialize
from tensorkeep.proto.serving import (
    ClassificationRequest,
    ClassificationResponse,
    ClassificationResult,
    ClassifyLog,
    ModelSpec,
    PredictionLog,
    PredictLog,
    PredictRequest,
    PredictResponse,
    RegressionRequest,
    RegressionResponse,
    RegressionResult,
    RegressLog,
)
from tensorkeep.proto.tensors import content_tensor_bytes, listed_tensor_bytes
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.inference.examples import (
    SerializedExamples,
    classification_result,
    example_signature,
    regression_result,
)
from tensorkeep.serving.inference.plans import (
    CLASSIFY,
    DEFAULT_SIGNATURE,
    REGRESS,
    Plans,
    PredictPlan,
    check_predict_method,
    check_type,
    signature_def,
)
from tensorkeep.serving.inference.running import ThreadRunner
from tensorkeep.serving.inference.tensors import listed_tensor
from tensorkeep.serving.models import ModelAsked
from tensorkeep.serving.servables import Ends, Servable
from tensorkeep.serving.statuses import in_runtime_words

Sent = TypeVar("Sent")
_OUTPUTS: Final = PredictResponse.DESCRIPTOR.fields_by_name["outputs"].number
_MODEL_SPEC: Final = PredictResponse.DESCRIPTOR.fields_by_name["model_spec"].number


class _Answerer(NamedTuple):
    """The names that a log needs: which model was asked, and which version answered. It holds no request, so that a log
    which is made later keeps no arrays of the request alive.
    """

    asked: ModelAsked
    signature: str
    version: int
    writes_tensor_content: bool

    def model_spec(self) -> ModelSpec:
        """The ModelSpec of the answer: the model, the version and the signature that answered."""
        return _answering(self.asked.name, self.signature, self.version)

    def request_spec(self) -> ModelSpec:
        """The ModelSpec of the request: the model and the signature that were asked for."""
        return ModelSpec(name=self.asked.name, signature_name=self.asked.signature)

    def response(self, plan: PredictPlan, results: Sequence[Array]) -> PredictResponse:
        """What was fetched as the answer to a client."""
        return parse(PredictResponse, self.response_bytes(plan, results), "an answer")

    def response_bytes(self, plan: PredictPlan, results: Sequence[Array]) -> bytes:
        """The bytes of `response`. Most answers are small, and a message takes longer to make than to compute."""
        make = content_tensor_bytes if self.writes_tensor_content else listed_tensor_bytes
        parts = []
        for alias, place, dtype in plan.outputs:
            array = results[place]
            tensor = make(array, dtype if _holds(dtype, array) else None)
            entry = encode_bytes_field(1, alias.encode()) + encode_bytes_field(2, tensor)
            parts.append(encode_bytes_field(_OUTPUTS, entry))
        parts.append(_spec_bytes(self.asked.name, self.signature, self.version))
        return b"".join(parts)


@lru_cache(maxsize=1024)
def _spec_bytes(name: str, signature: str, version: int) -> bytes:
    """The field of an answer that says who answered."""
    return encode_bytes_field(_MODEL_SPEC, serialize(_answering(name, signature, version)))


def _answering(name: str, signature: str, version: int) -> ModelSpec:
    spec = ModelSpec(name=name, signature_name=signature)
    spec.version.value = version
    return spec


class OpenedRequest:
    """A request and the version that answers it. Usable until the context that gave it ends."""

    def __init__(
        self,
        servable: Servable,
        exchange: Exchange,
        plans: Plans,
        *,
        checks_method_names: bool = False,
        writes_tensor_content: bool = False,
    ) -> None:
        self.servable = servable
        self.exchange = exchange
        self._plans = plans
        self.checks_method_names = checks_method_names
        self._writes_tensor_content = writes_tensor_content
        self._runner = servable.runner or ThreadRunner(servable)

    # ---------------------------------------------------------------------------------------------- signatures

    def signature(self, key: str = "", rest: bool = False) -> tuple[str, SignatureDef]:
        """A signature by its name, empty for the default one, with that name; `rest` for the error that HTTP has."""
        key = key or DEFAULT_SIGNATURE
        if rest and key not in self.servable.signature_defs:
            raise InvalidArgumentError(f'Serving signature name: "{key}" not found in signature def')
        return key, signature_def(self.servable, key)

    def _asked_signature(self) -> str:
        key = self.exchange.asked.signature or DEFAULT_SIGNATURE
        self.exchange.signature = key
        return key

    def model_spec(self, signature: str | None = None) -> ModelSpec:
        """The ModelSpec of the answer: the model, the version that answered, and the signature if one is given."""
        return _answering(self.exchange.asked.name, signature or "", self.servable.version)

    # ---------------------------------------------------------------------------------------------- predict

    async def predict(self, arrays: Mapping[str, Array], output_filter: Sequence[str] = ()) -> dict[str, Array]:
        """The outputs of the asked signature, or some of them, for an array for each of its inputs."""
        plan, results = await self.predicted(arrays, lambda alias, array: array, output_filter)
        self.exchange.log = partial(_predict_log, self._answerer(), arrays, output_filter, plan, results)
        return {alias: results[place] for alias, place, _ in plan.outputs}

    async def predicted(
        self, sent: Mapping[str, Sent], read: Callable[[str, Sent], Array], output_filter: Sequence[str]
    ) -> tuple[PredictPlan, Sequence[Array]]:
        """The plan of a prediction and what was fetched by it, for inputs that `read` makes arrays of."""
        key = self._asked_signature()
        if self.checks_method_names:
            check_predict_method(signature_def(self.servable, key))
        # The inputs are looked at first, so that of several errors the same one is told as by TensorFlow Serving.
        plan = self._plans.plan(self.servable, key, ())
        arrays = plan.arrays(sent, read)
        if output_filter:
            plan = self._plans.plan(self.servable, key, output_filter)
        plan.check_types(arrays)
        self.exchange.rows = next((len(array) for array in arrays if array.ndim), 0)
        return plan, await self._run(plan.ends, arrays)

    def response_bytes(self, plan: PredictPlan, results: Sequence[Array]) -> bytes:
        """What was fetched as the bytes of the answer to a client."""
        return self._answerer().response_bytes(plan, results)

    def _answerer(self) -> _Answerer:
        exchange = self.exchange
        return _Answerer(exchange.asked, exchange.signature, self.servable.version, self._writes_tensor_content)

    # ---------------------------------------------------------------------------------------------- examples

    async def classify(self, examples: Sequence[bytes], context: bytes = b"") -> ClassificationResult:
        """What serialized examples are classified as; `context` is put before each of them."""
        given = SerializedExamples(examples, context)
        _, signature = self.example_signature()
        tensor, names = example_signature(signature, CLASSIFY, self.checks_method_names)
        found = await self.fetched_for_examples({tensor: signature}, given, [signature.outputs[n].name for n in names])
        arrays = {name: found[signature.outputs[name].name] for name in names}
        result = classification_result(len(examples), arrays.get("classes"), arrays.get("scores"))
        self.exchange.log = partial(_classify_log, self._answerer(), given, result)
        return result

    async def regress(self, examples: Sequence[bytes], context: bytes = b"") -> RegressionResult:
        """What serialized examples are regressed to; `context` is put before each of them."""
        given = SerializedExamples(examples, context)
        _, signature = self.example_signature()
        tensor, (name,) = example_signature(signature, REGRESS, self.checks_method_names)
        fetch = signature.outputs[name].name
        found = await self.fetched_for_examples({tensor: signature}, given, [fetch])
        result = regression_result(len(examples), found[fetch])
        self.exchange.log = partial(_regress_log, self._answerer(), given, result)
        return result

    def example_signature(self) -> tuple[str, SignatureDef]:
        """The signature that was asked for, checked to be one that Classify or Regress can use."""
        key = self._asked_signature()
        if key not in self.servable.signature_defs:
            raise InvalidArgumentError(f"No signature was found with the name: {key}")
        return key, self.servable.signature_defs[key]

    async def fetched_for_examples(
        self, inputs: Mapping[str, SignatureDef], given: SerializedExamples, fetches: Sequence[str]
    ) -> dict[str, Array]:
        """Tensors by name, in one run that feeds the same examples to all input tensors."""
        array = given.array()
        feeds = sorted(inputs)
        for i, tensor in enumerate(feeds):
            (info,) = inputs[tensor].inputs.values()
            check_type(i, DType.of(info.dtype) if info.dtype else None, array)
        self.exchange.rows = len(array)
        ends = Ends(tuple(feeds), tuple(sorted(set(fetches))))
        return dict(zip(ends.fetches, await self._run(ends, [array] * len(feeds)), strict=True))

    # ---------------------------------------------------------------------------------------------- the model

    async def _run(self, ends: Ends, arrays: Sequence[Array]) -> Sequence[Array]:
        started = time.monotonic()
        try:
            return await self._runner.run(ends, arrays, self.exchange.call.deadline)
        except TensorKeepError as error:
            raise in_runtime_words(error) from None  # without a name, by which its trace would hold it
        finally:
            self.exchange.model_seconds += time.monotonic() - started


def _holds(dtype: DType | None, array: Array) -> bool:
    """Whether an array is of the type that a signature says."""
    if dtype is None:
        return False
    return array.dtype == dtype.array_dtype and (dtype is STRING or dtype_of_array(array.dtype) is not STRING)


def _predict_log(
    by: _Answerer,
    arrays: Mapping[str, Array],
    output_filter: Sequence[str],
    plan: PredictPlan,
    results: Sequence[Array],
) -> PredictionLog:
    tensors: dict[str, TensorProto] = {alias: listed_tensor(array) for alias, array in arrays.items()}
    request = PredictRequest(model_spec=by.request_spec(), inputs=tensors, output_filter=output_filter)
    return PredictionLog(predict_log=PredictLog(request=request, response=by.response(plan, results)))


def _classify_log(by: _Answerer, given: SerializedExamples, result: ClassificationResult) -> PredictionLog:
    request = ClassificationRequest(model_spec=by.request_spec())
    request.input.CopyFrom(given.message())
    response = ClassificationResponse(result=result, model_spec=by.model_spec())
    return PredictionLog(classify_log=ClassifyLog(request=request, response=response))


def _regress_log(by: _Answerer, given: SerializedExamples, result: RegressionResult) -> PredictionLog:
    request = RegressionRequest(model_spec=by.request_spec())
    request.input.CopyFrom(given.message())
    response = RegressionResponse(result=result, model_spec=by.model_spec())
    return PredictionLog(regress_log=RegressLog(request=request, response=response))
