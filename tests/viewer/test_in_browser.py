"""Every view in a real browser. Scripts in names and values stay text; whatever the console says is a failure."""

from __future__ import annotations

import json
import wave
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.proto.messages import GraphDef, SavedModel
from tensorkeep.viewer.page import export_page
from tensorkeep.viewer.server import Server
from tests.viewer.conftest import World
from tests.viewer.worlds import HOSTILE, layered_graph, write_graph

pytestmark = pytest.mark.slow
AXE = files("axe_playwright_python") / "axe.min.js"
Open = Callable[..., Any]
VIEWS = [
    ("conv", "about"),
    ("conv", "graph"),
    ("conv", "weights"),
    ("tables", "tables"),
    ("run", "history"),
    ("conv", "run"),
    ("half", "checks"),
]


FIRST_SCOPE = """(() => {
    const boxes = model.scopes.map((scope) => renderer.rectangle(scope.id)).filter((one) => one);
    return [(boxes[0].x + 20 - renderer.x) * renderer.zoom, (boxes[0].y + 12 - renderer.y) * renderer.zoom];
})()"""
"""Where the first scope that is drawn is on the canvas."""


def ready(page: Any) -> Any:
    """The graph, when it is laid out and its shapes are known."""
    page.wait_for_selector("canvas.graph[data-ready][data-costs]")
    return page


def graph(page: Any, question: str) -> Any:
    return page.evaluate(f"(() => {{ const {{ renderer, model }} = tensorkeepGraph; return {question}; }})()")


# --------------------------------------------------------------------------------------------------------------- graph


def test_scopes_open_and_close_by_the_keyboard(opened: Open) -> None:
    page = ready(opened("conv", "graph"))
    page.locator("input[type=search]").fill("batchnorm/mul_1")
    page.locator(".result").first.click()
    page.wait_for_selector(".panel h2:has-text('Mul')")
    before = graph(page, "renderer.drawnBoxes")
    page.get_by_role("button", name="Close all").click()
    page.wait_for_selector("text=/\\d+ boxes shown/")
    page.wait_for_timeout(200)
    assert graph(page, "renderer.drawnBoxes") < before
    graph(page, "renderer.fit()")
    x, y = graph(page, FIRST_SCOPE)
    page.locator("canvas.graph").click(position={"x": x, "y": y})
    page.wait_for_selector(".panel button:has-text('Open')")
    closed = graph(page, "renderer.drawnBoxes")
    page.locator("canvas.graph").press("Enter")
    page.wait_for_selector(".panel button:has-text('Close')")
    assert graph(page, "renderer.drawnBoxes") > closed


def test_a_node_is_told_with_its_attributes_inputs_and_outputs(opened: Open) -> None:
    page = ready(opened("conv", "graph", "?node=sequential_1/conv2d_1/convolution"))
    panel = page.locator(".panel")
    panel.get_by_text("Attributes").wait_for()
    text = panel.inner_text()
    assert "Conv2D" in text
    assert "padding" in text
    assert "float32 [?," in text
    assert "Takes (2)" in text


def test_search_finds_by_name_op_and_attribute(opened: Open) -> None:
    page = ready(opened("conv", "graph"))
    search = page.locator("input[type=search]")
    search.fill("MaxPool")
    page.wait_for_selector(".result:has-text('MaxPool')")
    search.fill("ksize")
    page.wait_for_selector(".result:has-text('MaxPool')")
    search.fill("nothing like this")
    page.wait_for_selector(".results:has-text('Nothing is called like')")


def test_repeated_blocks_are_folded_and_constants_stand_in_what_uses_them(opened: Open) -> None:
    page = ready(opened("graph", "graph"))
    repeats = graph(page, "model.scopes.map((scope) => scope.repeats).filter((count) => count)")
    assert 4 in repeats
    assert graph(page, "[...model.held.keys()].every((node) => model.opOf(node) === 'MatMul')")


def test_all_ways_between_two_nodes_stand_out(opened: Open) -> None:
    page = ready(opened("graph", "graph"))
    first, second = ("block_0/layer_0/branch_0/MatMul", "block_0/layer_1/sum")
    numbers = [graph(page, f"model.graph.names.indexOf({json.dumps(name)})") for name in (first, second)]
    names = graph(page, f"[...model.between({numbers[0]}, {numbers[1]})].map((node) => model.graph.names[node])")
    assert "block_0/layer_0/sum" in names
    assert "block_0/layer_0/branch_1/MatMul" not in names


def test_costs_are_an_overlay(opened: Open) -> None:
    page = ready(opened("conv", "graph"))
    page.locator("select[aria-label=Colours]").select_option("operations")
    assert graph(page, "renderer.look.tints.size") > 3
    assert "FLOPs" in page.locator(".stage .legend").inner_text()


def test_a_drawing_is_saved_as_svg_and_png(opened: Open, tmp_path: Path) -> None:
    page = ready(opened("conv", "graph"))
    for name, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        waiting.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_a_loop_is_a_part_of_the_graph(opened: Open) -> None:
    page = ready(opened("lstm", "graph"))
    assert graph(page, "model.graph.ops.some((op) => op.endsWith('While'))")
    page.get_by_role("button", name="Open all").click()
    page.wait_for_selector("text=/606 ops/")


# ------------------------------------------------------------------------------------------------------------- weights


def names(page: Any) -> list[str]:
    found: list[str] = page.locator("[role=table][aria-label=Tensors] .rows .row > div:first-child").all_inner_texts()
    return found


def test_tensors_are_filtered_and_sorted(opened: Open) -> None:
    page = opened("conv", "weights")
    page.locator("#filter").fill("KERNEL shape:3x3")
    page.wait_for_selector("text=2 of 12 tensors")
    assert names(page) == ["sequential/conv2d/kernel", "sequential/separable_conv2d/depthwise_kernel"]
    page.locator("#filter").fill("")
    page.get_by_role("button", name="bytes").click()
    page.wait_for_selector("[aria-sort=descending]")
    assert names(page)[0] == "sequential/conv2d/kernel"


def test_a_tensor_shows_numbers_a_map_filters_and_a_file(opened: Open, tmp_path: Path) -> None:
    page = opened("conv", "weights", "?tensor=sequential/conv2d/kernel")
    for text in ("Largest", "Map", "Filters, 6 of 6", "Values"):
        page.locator(".panel").get_by_text(text, exact=True).wait_for()
    assert page.locator(".tiles canvas").count() == 6
    page.locator("select[aria-label='Axis down']").select_option("0")
    page.wait_for_timeout(200)
    with page.expect_download() as waiting:
        page.get_by_text("Download .npy").click()
    waiting.value.save_as(tmp_path / "k.npy")
    assert np.load(tmp_path / "k.npy").shape == (3, 3, 3, 6)


def test_sizes_are_areas_too(opened: Open) -> None:
    page = opened("conv", "weights")
    page.get_by_role("button", name="Map of sizes").click()
    page.locator(".treemap g").first.press("Enter")
    page.wait_for_selector(".treemap p button")


def test_statistics_of_all_tensors_become_columns(opened: Open) -> None:
    page = opened("conv", "weights")
    page.get_by_role("button", name="Statistics of all").click()
    page.get_by_role("button", name="deviation").wait_for()
    assert page.locator(".spark").count() == 12


def test_names_that_every_object_has_are_names_like_others(browser: Any, tmp_path: Path) -> None:
    tk.save_checkpoint(
        tmp_path / "m", {name: np.ones(2, np.float32) for name in ("__proto__", "constructor", "toString")}
    )
    server = Server([str(tmp_path / "m")])
    server.start()
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(f"{server.address}#/0/weights")
        page.locator(".row.pick", has_text="constructor").click()
        page.locator(".panel").get_by_text("Values", exact=True).wait_for()
        assert page.get_by_text("incomplete").count() == 0
        assert names(page) == ["__proto__", "constructor", "toString"]
    finally:
        context.close()
        server.close()


def test_a_half_copied_model_shows_what_is_there_and_marks_the_rest(opened: Open) -> None:
    page = opened("half", "weights")
    page.wait_for_selector("text=/problems? with the files/")
    assert page.get_by_text("incomplete").count() > 0
    assert len(names(page)) >= 12


# ----------------------------------------------------------------------------------------- tables, history, run, checks


def test_keys_are_looked_up_and_have_neighbours(opened: Open) -> None:
    page = opened("tables", "tables")
    page.get_by_label("Keys", exact=True).first.fill("1000003")
    page.get_by_role("button", name="Look up").click()
    page.wait_for_selector("text=stored")
    page.get_by_role("button", name="Nearest rows").click()
    page.wait_for_selector("text=Nearest to 1000003")
    assert page.locator("section:has-text('A key') tbody td").first.inner_text() in ("0", "2000006")
    page.wait_for_selector("canvas[aria-label^='Map of rows: 300']")


def test_two_checkpoints_are_compared_and_their_graphs_coloured(opened: Open) -> None:
    page = opened("run", "history")
    page.wait_for_selector("text=model-500")
    assert page.locator(".timeline li").count() == 5
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector("[aria-label='Changed tensors'] >> text=dense/kernel")
    page.get_by_role("button", name="Tell the drift").click()
    page.wait_for_selector("text=from first to last")
    page.get_by_role("button", name="Graphs in place").click()
    page.wait_for_selector(".panel h2:has-text('Difference')")
    assert graph(page, "renderer.look.tints.size") > 0


def test_a_signature_runs_by_its_form(opened: Open) -> None:
    page = opened("conv", "run")
    page.get_by_role("button", name="Random numbers").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".answers >> text=It took")
    assert "float32 [1, 5]" in page.locator(".answers").inner_text()
    page.locator("textarea").fill("[1, 2]")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".answers .notice.error >> text=img")


def test_a_picture_and_an_npy_file_are_inputs(opened: Open, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 12, 12, 3), np.float32))
    page = opened("conv", "run")
    page.locator("input[type=file]").set_input_files(tmp_path / "x.npy")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".answers >> text=float32 [2, 5]")
    page.screenshot(path=str(tmp_path / "p.png"))
    page.locator("input[type=file]").set_input_files(tmp_path / "p.png")
    page.wait_for_selector("text=/p.png: 1 × 12 × 12 × 3/")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".answers >> text=float32 [1, 5]")


def test_a_sound_is_an_input_at_the_rate_of_its_file_or_another(opened: Open, tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.repeat(np.full(12000, 8192, "<i2"), 2).tobytes())
    page = opened("sounds", "run", "?signature=loudness")
    page.locator("input[type=file]").set_input_files(tmp_path / "tone.wav")
    page.wait_for_selector("text=/8,000 samples a second, the first of 2 channels, the first 8,000 of 12,000 samples/")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".answers >> text=0.25")
    page.get_by_label("Samples of sounds").select_option("16000")
    page.wait_for_selector("text=/16,000 samples a second.*the first 8,000 of 24,000 samples/")
    (tmp_path / "tone.mp3").write_bytes(b"ID3 no sound at all")
    page.locator("input[type=file]").set_input_files(tmp_path / "tone.mp3")
    page.get_by_label("Samples of sounds").select_option("0")
    page.wait_for_selector("text=/Only .wav files say their samples/")


def test_a_run_that_does_not_end_is_cancelled_on_the_page(opened: Open, world: World) -> None:
    page = opened("sounds", "run", "?signature=forever")
    page.get_by_role("button", name="Random numbers").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".answers >> text=/[Cc]ancelled/")
    both = Barrier(2, timeout=15)
    jobs = [world.server.viewer.jobs.start(lambda _: {"at": both.wait()})[1] for _ in range(2)]
    assert {job.future.result(20)["at"] for job in jobs} == {0, 1}, "one of the two threads is still running the model"


def test_checks_lead_to_what_is_wrong(opened: Open) -> None:
    page = opened("half", "checks")
    page.wait_for_selector(".verdict.bad")
    page.locator(".findings button").first.click()
    page.wait_for_selector("[data-view=weights] .panel h2")


def test_what_is_unknown_says_what_could_be(opened: Open) -> None:
    page = opened("text", "about")
    assert "a SavedModel" in page.locator("main").inner_text() or "SavedModel" in page.locator("main").inner_text()


# ----------------------------------------------------------------------------------------------------- the page as such


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_no_view_has_a_serious_fault_for_those_who_hear_or_type(opened: Open, name: str, view: str) -> None:
    for scheme in ("light", "dark"):
        page = opened(name, view, color_scheme=scheme, bypass_csp=True)
        page.wait_for_load_state("networkidle")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((one) => one.violations"
                              ".filter((it) => ['serious', 'critical'].includes(it.impact))"
                              ".map((it) => [it.id, it.nodes.map((node) => node.html.slice(0, 200))]))")  # fmt: skip
        assert found == []


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_no_view_is_wider_than_a_phone(opened: Open, name: str, view: str) -> None:
    page = opened(name, view, viewport={"width": 375, "height": 700})
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_theme_can_be_chosen(opened: Open) -> None:
    page = opened("conv", "about", color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


# -------------------------------------------------------------------------------------------------------------- hostile


def hostile_files(folder: Path) -> list[str]:
    plain = [name.replace("/", "|") for name in HOSTILE]
    tensors: dict[str, Any] = {f"{name}/{name}": np.ones((2, 2), np.float32) for name in plain}
    tensors |= {f"text {name}": np.array([name.encode()], object) for name in plain}
    tk.save_checkpoint(folder / "m", tensors)
    graph_def = layered_graph(1, 4)
    for at, name in enumerate(plain):
        node = graph_def.node.add(name=name, op="Identity", device=name, input=["input"])
        node.attr[name].s = name.encode()
        graph_def.node.add(name=f"const_{at}", op="Const").attr["value"].tensor.string_val.append(name.encode())
    unknown = layered_graph(1, 4)
    for name in plain:
        unknown.node.add(name=f"op {name}", op=name)
    paths = (
        folder / "m",
        write_graph(folder / "g.pb", graph_def),
        write_model(folder / "unknown", unknown, plain),
        write_model(folder / "model", layered_graph(1, 4), plain),
    )
    return [str(path) for path in paths]


def write_model(folder: Path, graph_def: GraphDef, names: Sequence[str]) -> Path:
    """A SavedModel whose signatures, and what they take and give, have these names."""
    model = SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add(graph_def=graph_def)
    meta.meta_info_def.tags.extend(("serve", names[0]))
    for name in names:
        signature = meta.signature_def[name]
        signature.method_name = name
        for ends, tensor in ((signature.inputs, "input:0"), (signature.outputs, "output:0")):
            ends[name].name = tensor
            ends[name].dtype = 1
            for size in (-1, 8):
                ends[name].tensor_shape.dim.add(size=size)
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(model.SerializeToString())
    return folder


def test_scripts_in_every_field_stay_text(browser: Any, tmp_path: Path) -> None:
    paths = hostile_files(tmp_path)
    (tmp_path / "page.html").write_text(export_page(paths).text, encoding="utf-8")
    server = Server(paths)
    server.start()
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        for address in (server.address, (tmp_path / "page.html").as_uri()):
            page.goto(address)
            _visit_all(page, address)
            assert page.evaluate("window.hit") is None
            assert page.evaluate("document.querySelectorAll('img, iframe, object, main script').length") == 0
    finally:
        context.close()
        server.close()
    assert errors == []


def _visit_all(page: Any, address: str) -> None:
    for number, views in (
        (0, ("about", "weights", "checks")),
        (1, ("about", "graph", "checks")),
        (2, ("graph", "run", "checks")),
        (3, ("graph", "run")),
    ):
        for view in views:
            page.goto(f"{address}#/{number}/{view}")
            page.reload()
            page.wait_for_selector(f'[data-view="{view}"]')
            page.wait_for_load_state("networkidle")
            if view == "weights":
                for row in range(min(4, page.locator(".row.pick").count())):
                    page.locator(".row.pick").nth(row).click()
            if view == "graph":
                page.wait_for_selector("canvas[data-ready]")
                page.locator("input[type=search]").fill("hit" if number < 3 else "input")
                page.locator(".result").first.click()
                page.wait_for_timeout(200)
            if view == "run" and number == 3 and address.startswith("http:"):
                for signature in HOSTILE[:3]:
                    page.locator("main select").first.select_option(signature.replace("/", "|"))
                    page.get_by_role("button", name="Random numbers").first.click()
                    page.get_by_role("button", name="Run", exact=True).first.click()
                    page.wait_for_selector(".answers >> text=It took")


def test_a_page_of_another_site_can_neither_read_nor_drive_it(browser: Any, world: World, tmp_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    (tmp_path / "evil.html").write_text("<p>evil</p>")
    page.goto((tmp_path / "evil.html").as_uri())
    address = f"http://127.0.0.1:{world.server.port}"
    tried = page.evaluate(
        """async ([address, token]) => {
            const known = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
            const read = await fetch(`${address}/api/sources`, { method: "POST", headers: known, body: "{}" })
                .then((found) => found.status, () => "refused");
            const sent = { method: "POST", mode: "no-cors", body: "{}" };
            const blind = await fetch(`${address}/api/sources?token=${token}`, sent)
                .then((found) => found.type, () => "refused");
            return [read, blind];
        }""",
        [address, world.server.token],
    )
    assert tried[0] == "refused"
    assert tried[1] in ("opaque", "refused")
    page.set_content(f'<iframe src="{world.server.address}"></iframe>')
    page.wait_for_timeout(500)
    assert all(not frame.locator(".tabs").count() for frame in page.frames[1:])
    context.close()


# ----------------------------------------------------------------------------------------------- pages without a server


def test_a_page_that_was_written_shows_all_that_is_in_it(browser: Any, world: World, tmp_path: Path) -> None:
    page_path = tmp_path / "out.html"
    page_path.write_text(
        export_page([str(world.folder / "run"), str(world.folder / "recommender")]).text, encoding="utf-8"
    )
    context = browser.new_context()
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda sent: troubles.append(sent.url) if not sent.url.startswith(("file:", "blob:", "data:")) else None,
    )
    for hash_, selector in (
        ("#/0/graph", "canvas[data-ready][data-costs]"),
        ("#/0/weights?tensor=dense/kernel", ".panel .map canvas"),
        ("#/0/weights", ".spark"),
        ("#/0/history", "text=accuracy"),
        ("#/0/checks", ".verdict"),
        ("#/1/tables", "canvas[aria-label^='Map of rows']"),
    ):
        page.goto("about:blank")
        page.goto(page_path.as_uri() + hash_)
        page.wait_for_selector(selector)
    context.close()
    assert troubles == []


def test_a_notebook_runs_the_page_in_its_frame(browser: Any, world: World, tmp_path: Path) -> None:
    (tmp_path / "book.html").write_text(tk.view(world.folder / "layers.pb")._repr_html_(), encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "book.html").as_uri())
    page.frame_locator("iframe").locator("canvas[data-ready]").wait_for()
    context.close()
