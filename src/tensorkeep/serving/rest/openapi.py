"""A description of the interface by OpenAPI, made from the signatures of the models that are served."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

import orjson

from tensorkeep._version import __version__
from tensorkeep.serving.models import Models
from tensorkeep.serving.rest.binary_bodies import ARROW, FORM, NPY, NPZ
from tensorkeep.serving.rest.served_models import End, ServedModel, ServedSignature, served_models

Schema = dict[str, Any]

_ERROR: Final[Schema] = {
    "description": "What went wrong",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_TEXT: Final[Schema] = {"text/plain": {"schema": {"type": "string"}}}
_BASE64: Final[Schema] = {
    "type": "object", "properties": {"b64": {"type": "string", "contentEncoding": "base64"}},
    "required": ["b64"], "additionalProperties": False,
}  # fmt: skip


def openapi_body(models: Models) -> bytes:
    """The description as JSON."""
    return orjson.dumps(openapi(served_models(models)), option=orjson.OPT_INDENT_2)


def openapi(models: list[ServedModel]) -> Schema:
    """The description."""
    paths: Schema = {
        "/v1/models": {"get": _question("All models, and the states of their versions", "models")},
        "/healthz": {"get": _health("Whether the server is alive", {"200": "It is"})},
        "/readyz": {"get": _health("Whether the server is ready", {"200": "It is", "503": "Why it is not"})},
    }
    for model in models:
        paths.update(_model_paths(model))
    error: Schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Models", "version": __version__, "description": "Models served by tensorkeep."},
        "paths": paths,
        "components": {"schemas": {"Error": error}},
    }


def _question(summary: str, tag: str) -> Schema:
    answer = {"description": summary, "content": {"application/json": {"schema": {"type": "object"}}}}
    return {"summary": summary, "tags": [tag], "responses": {"200": answer, "default": _ERROR}}


def _health(summary: str, answers: dict[str, str]) -> Schema:
    responses = {code: {"description": text, "content": _TEXT} for code, text in answers.items()}
    return {"summary": summary, "tags": ["health"], "responses": responses}


def _model_paths(model: ServedModel) -> Schema:
    name = model.overview.name
    base = f"/v1/models/{quote(name, safe='')}"
    paths: Schema = {
        base: {"get": _question("The states of its versions", name)},
        f"{base}/metadata": {"get": _question("Its signatures", name)},
    }
    for method in ("predict", "classify", "regress"):
        signatures = [each for each in model.signatures if each.method == method or method == "predict"]
        if signatures:
            paths[f"{base}:{method}"] = {"post": _inference(name, method, signatures)}
    return paths


def _inference(name: str, method: str, signatures: list[ServedSignature]) -> Schema:
    schemas = [_request_schema(method, each) for each in signatures]
    content: Schema = {"application/json": {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}}
    parameters: list[Schema] = []
    if method == "predict":
        content |= {kind: {"schema": {"type": "string", "format": "binary"}} for kind in (NPY, NPZ, FORM, ARROW)}
        names = [each.name for each in signatures]
        schema = {"type": "string", "enum": names}
        parameters = [{"name": "signature_name", "in": "query", "description": "Of a binary body", "schema": schema}]
    answer = {
        "description": "Outputs" if method == "predict" else "Results",
        "content": {"application/json": {"schema": _answer_schema(method, signatures)}},
    }
    return {
        "summary": f"Asks {name} to {method}",
        "tags": [name],
        "parameters": parameters,
        "requestBody": {"required": True, "content": content},
        "responses": {"200": answer, "default": _ERROR},
    }


def _request_schema(method: str, signature: ServedSignature) -> Schema:
    default = signature.name == "serving_default"
    properties: Schema = {"signature_name": {"const": signature.name}}
    required = [] if default else ["signature_name"]
    title = signature.name
    if method != "predict":
        properties["examples"] = {"type": "array", "minItems": 1, "items": {"type": "object"}}
        properties["context"] = {"type": "object"}
        return {"title": title, "type": "object", "properties": properties, "required": [*required, "examples"]}
    properties["instances"] = {"type": "array", "minItems": 1, "items": _rows_schema(signature.inputs)}
    properties["inputs"] = _columns_schema(signature.inputs)
    forms = [{"required": ["instances"]}, {"required": ["inputs"]}]
    return {"title": title, "type": "object", "properties": properties, "required": required, "oneOf": forms}


def _answer_schema(method: str, signatures: list[ServedSignature]) -> Schema:
    if method != "predict":
        return {"type": "object", "properties": {"results": {"type": "array"}}, "required": ["results"]}
    schemas: list[Schema] = []
    for signature in signatures:
        rows = {"type": "array", "items": _rows_schema(signature.outputs)}
        properties = {"predictions": rows, "outputs": _columns_schema(signature.outputs)}
        schemas.append({"title": signature.name, "type": "object", "properties": properties})
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _rows_schema(ends: tuple[End, ...]) -> Schema:
    """What stands for one row: a value if there is one tensor, otherwise an object."""
    schemas = {end.name: tensor_schema(end.type_name, None if end.shape is None else end.shape[1:]) for end in ends}
    named: Schema = {"type": "object", "properties": schemas, "required": list(schemas)}
    return {"anyOf": [next(iter(schemas.values())), named]} if len(schemas) == 1 else named


def _columns_schema(ends: tuple[End, ...]) -> Schema:
    schemas = {end.name: tensor_schema(end.type_name, end.shape) for end in ends}
    named: Schema = {"type": "object", "properties": schemas, "required": list(schemas)}
    return {"anyOf": [next(iter(schemas.values())), named]} if len(schemas) == 1 else named


def tensor_schema(type_name: str, shape: tuple[int, ...] | None) -> Schema:
    """Nested lists of a shape; anything, if the shape is not known."""
    if shape is None:
        return {"description": f"{type_name} of any shape"}
    schema = _element_schema(type_name)
    for size in reversed(shape):
        schema = {"type": "array", "items": schema}
        if size >= 0:
            schema |= {"minItems": size, "maxItems": size}
    return schema


def _element_schema(type_name: str) -> Schema:
    if type_name == "string":
        return {"anyOf": [{"type": "string"}, _BASE64]}
    if type_name == "bool":
        return {"type": "boolean"}
    if type_name in ("float", "double"):
        return {"type": "number", "format": type_name}
    return {"type": "integer", "format": type_name}
