"""Configurations: what they say, what is refused and in which words."""

from __future__ import annotations

import pytest

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.proto.text import parse_configuration
from tensorkeep.serving.life.configuration import (
    All,
    ConfigurationFileError,
    InForce,
    Latest,
    ModelSettings,
    Specific,
    checked_settings,
    one_model,
    read_configuration,
)

FIRST = InForce({}, lambda name, version: False)


def parsed(text: str) -> ModelServerConfig:
    return parse_configuration(ModelServerConfig, text.encode())


def model(inner: str, platform: str = 'model_platform: "tensorflow"') -> ModelServerConfig:
    return parsed(f'model_config_list {{ config {{ name: "m" base_path: "/m" {platform} {inner} }} }}')


def settings(inner: str) -> ModelSettings:
    found = checked_settings(model(inner), FIRST)
    assert found is not None
    return found["m"]


def refused(config: ModelServerConfig, in_force: InForce = FIRST) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        checked_settings(config, in_force)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("", Latest(1)),
        ("model_version_policy { latest { } }", Latest(1)),
        ("model_version_policy { latest { num_versions: 3 } }", Latest(3)),
        ("model_version_policy { all { } }", All()),
        ("model_version_policy: { specific { versions: 42, versions: 43 } };", Specific((42, 43))),
    ],
)
def test_policies_become_values(text: str, policy: object) -> None:
    assert settings(text).policy == policy


def test_labels_and_logging_are_kept() -> None:
    found = settings(
        'version_labels { key: "stable" value: 42 } '
        'logging_config { log_collector_config { type: "x" filename_prefix: "/logs/m" } }'
    )
    assert found.labels == {"stable": 42}
    assert found.logging is not None
    assert found.logging.log_collector_config.filename_prefix == "/logs/m"
    assert settings("").logging is None


def test_flags_name_one_model() -> None:
    assert checked_settings(one_model("default", "/models/default"), FIRST) == {
        "default": ModelSettings("default", "/models/default")
    }


def test_a_type_alone_is_a_platform() -> None:
    assert checked_settings(model("", "model_type: TENSORFLOW"), FIRST) == {"m": ModelSettings("m", "/m")}


def test_an_empty_configuration_changes_nothing() -> None:
    assert checked_settings(ModelServerConfig(), FIRST) is None
    assert checked_settings(parsed("model_config_list { }"), FIRST) == {}


def test_only_lists_of_models_are_taken() -> None:
    with pytest.raises(FailedPreconditionError) as caught:
        checked_settings(parsed('custom_model_config { type_url: "x" }'), FIRST)
    assert str(caught.value) == (
        "Cannot transition to requested config. It is only legal to transition from one ModelConfigList to another."
    )


def test_what_is_wrong_is_said_as_by_the_original() -> None:
    twice = parsed('model_config_list { config { name: "m" base_path: "/a" } config { name: "m" base_path: "b" } }')
    assert refused(twice) == "Illegal to list model m multiple times in config list"
    relative = parsed('model_config_list { config { name: "m" base_path: "a/b" } }')
    assert refused(relative) == "Expected model m to have an absolute path or URI; got base_path()=a/b"
    assert refused(model("", 'model_platform: "pytorch"')) == "Model m requests unsupported platform pytorch"
    assert refused(model("", "")) == (
        "Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform, "
        "model name is m"
    )
    assert refused(model("", 'model_platform: "tensorflow" model_type: TENSORFLOW')).startswith("Illegal setting both ")


def test_a_platform_cannot_change() -> None:
    known = InForce({"m": ModelSettings("m", "/m")}, lambda name, version: True)
    assert refused(model("", 'model_platform: "other"'), known) == (
        "Illegal to change a model's platform. For model m platform was tensorflow and new platform requested is other"
    )


def test_a_store_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnimplementedError, match="hdfs"):
        checked_settings(
            parsed('model_config_list { config { name: "m" base_path: "hdfs://a/b" model_platform: "tensorflow" } }'),
            FIRST,
        )


# ------------------------------------------------------------------------------------------------------------ labels


def labelled(label: str, version: int) -> ModelServerConfig:
    return model(f'version_labels {{ key: "{label}" value: {version} }}')


def in_force(labels: dict[str, int], available: set[int], allows: bool = False) -> InForce:
    return InForce({"m": ModelSettings("m", "/m", labels=labels)}, lambda name, version: version in available, allows)


def test_a_label_goes_only_to_a_version_that_is_available() -> None:
    assert checked_settings(labelled("a", 1), in_force({}, {1}))
    with pytest.raises(FailedPreconditionError) as caught:
        checked_settings(labelled("a", 2), in_force({"a": 1}, {1}))
    assert str(caught.value) == (
        "Request to assign label to version 2 of model m, which is not currently available for inference"
    )


def test_a_new_label_may_go_to_any_version_where_that_is_allowed() -> None:
    assert checked_settings(labelled("b", 2), in_force({"a": 1}, {1}, allows=True))
    with pytest.raises(FailedPreconditionError):
        checked_settings(labelled("a", 2), in_force({"a": 1}, {1}, allows=True))


def test_a_new_model_brings_its_labels_along() -> None:
    assert checked_settings(labelled("a", 1), FIRST)


def test_a_label_that_stays_is_fine() -> None:
    assert checked_settings(labelled("a", 1), in_force({"a": 1}, set()))


# ------------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "model_config_list {\n config { nam: 'x' } }",
            '2:11: Message type "tensorflow.serving.ModelConfig" has no field',
        ),
        ("model_config_list: 3", '1:20: Expected "{".'),
        ("model_config_list { config { base_path: 7 } }", "1:41: Expected string but found: '7'"),
        ("model_config_list {", '1:19: Expected "}".'),
        (b"\xff".decode("latin-1"), "1:1: "),
    ],
)
def test_a_file_that_does_not_parse_is_told_by_line_and_column(text: str, told: str) -> None:
    fs = MemoryFileSystem({"/c": text.encode("latin-1")})
    with pytest.raises(ConfigurationFileError) as caught:
        read_configuration(ModelServerConfig, "/c", fs)
    assert caught.value.problem.startswith(f"Error parsing text-format tensorflow.serving.ModelServerConfig: {told}"), (
        caught.value.problem
    )
    assert str(caught.value).startswith("Invalid protobuf file: '/c': Error parsing text-format")


def test_a_file_is_read_with_its_comments() -> None:
    fs = MemoryFileSystem({"/c": b"# models\nmodel_config_list: { config: { name: 'a' 'b', base_path: \"/x\" }; }"})
    (found,) = read_configuration(ModelServerConfig, "/c", fs).model_config_list.config
    assert (found.name, found.base_path) == ("ab", "/x")
