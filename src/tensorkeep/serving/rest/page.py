"""The page for people: models, versions, signatures, and a form to try a request. It needs no other file."""

from __future__ import annotations

import json
from html import escape
from typing import Final
from urllib.parse import quote

import orjson

from tensorkeep._version import __version__
from tensorkeep.serving.models import Models, State, VersionStatus
from tensorkeep.serving.rest.served_models import End, ServedModel, ServedSignature, served_models
from tensorkeep.serving.statuses import code_name

_STYLE: Final = """
:root { color-scheme: light dark; --back: #f6f7f9; --card: #fff; --text: #1c2330; --dim: #667085; --line: #dfe3ea;
  --accent: #2457d6; --good: #11734b; --bad: #b42318; --wait: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --back: #12151b; --card: #1a1f28; --text: #e6e9ef; --dim: #98a2b3;
  --line: #2c3442; --accent: #7ba2ff; --good: #5fd3a0; --bad: #ff8a80; --wait: #f0c060; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.15rem; margin: 0; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
header { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; align-items: baseline; margin-bottom: 1.2rem; }
a { color: var(--accent); } .dim { color: var(--dim); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.2rem;
  margin: 1rem 0; }
.badge { border: 1px solid currentColor; border-radius: 1rem; padding: 0 .55rem; font-size: .8rem; margin-left: .4rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--dim); font-weight: 500; font-size: .85rem; }
code, textarea, pre, input, select { font: 13px/1.45 ui-monospace, monospace; }
textarea, input, select { width: 100%; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: .4rem; padding: .5rem; } textarea { min-height: 8rem; resize: vertical; }
label { display: block; margin: .6rem 0 .2rem; color: var(--dim); font-size: .85rem; }
button { margin-top: .8rem; padding: .45rem 1.1rem; border: 0; border-radius: .4rem; background: var(--accent);
  color: var(--card); font: inherit; cursor: pointer; }
pre { overflow: auto; max-height: 24rem; background: var(--back); border: 1px solid var(--line); border-radius: .4rem;
  padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; }
"""

_SCRIPT: Final = """
const bodies = JSON.parse(document.getElementById('bodies').textContent);
const at = id => document.getElementById(id);
const fill = () => { const chosen = bodies[at('what').value];
  if (chosen) { at('url').value = chosen.url; at('body').value = chosen.body; } };
if (at('what')) {
  at('what').addEventListener('change', fill); fill();
  at('try').addEventListener('submit', async event => {
    event.preventDefault();
    const headers = {'Content-Type': 'application/json'};
    if (at('token').value) headers['Authorization'] = 'Bearer ' + at('token').value;
    at('state').textContent = 'waiting'; at('answer').textContent = '';
    const started = performance.now();
    try {
      const reply = await fetch(at('url').value, {method: 'POST', headers, body: at('body').value});
      const text = await reply.text();
      at('state').textContent = reply.status + ' in ' + (performance.now() - started).toFixed(1) + ' ms';
      at('state').className = reply.ok ? 'good' : 'bad';
      at('answer').textContent = text;
    } catch (error) { at('state').textContent = String(error); at('state').className = 'bad'; }
  });
}
"""

_DOOR_SCRIPT: Final = """
document.getElementById('enter').addEventListener('submit', async event => {
  event.preventDefault();
  const token = document.getElementById('token').value;
  const reply = await fetch('', {headers: {'Authorization': 'Bearer ' + token}});
  if (!reply.ok) { document.getElementById('state').textContent = 'The token is not valid'; return; }
  const text = await reply.text();
  document.open(); document.write(text); document.close();
  const kept = document.getElementById('token');
  if (kept) kept.value = token;
});
"""

_CLASSES: Final = {State.AVAILABLE: "good", State.END: "bad"}


def page_body(models: Models) -> bytes:
    """The page as HTML."""
    return page(served_models(models)).encode()


def page(models: list[ServedModel]) -> str:
    """The page as text."""
    cards = "".join(map(_card, models)) or '<p class="card">No models are served yet.</p>'
    bodies = orjson.dumps(_bodies(models)).decode().replace("<", "\\u003c")
    return _document(
        f'<a href="openapi.json">OpenAPI</a><a href="v1/models">JSON</a><a href="readyz">Ready?</a></header>{cards}'
        f'{_form(models)}<script type="application/json" id="bodies">{bodies}</script><script>{_SCRIPT}</script>'
    )


def door_body() -> bytes:
    """The page for who has given no valid token: it asks for one, and shows the other page for it."""
    return _document(
        '</header><section class="card"><h2>Token</h2><form id="enter"><label for="token">Sent as a bearer token'
        '</label><input id="token" type="password" autocomplete="off" autofocus><button>Show the models</button> '
        f'<span id="state" class="bad" role="status"></span></form></section><script>{_DOOR_SCRIPT}</script>'
    ).encode()


def _document(content: str) -> str:
    """A whole document; the content begins within the header."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Models</title>'
        '<link rel="icon" href="data:,">'
        f"<style>{_STYLE}</style></head><body><main><header><h1>Models</h1>"
        f'<span class="dim">tensorkeep {escape(__version__)}</span>{content}</main></body></html>\n'
    )


def _card(model: ServedModel) -> str:
    labels = "".join(
        f'<span class="badge dim">{escape(label)} → {version}</span>'
        for label, version in sorted(model.overview.labels.items())
    )
    rows = "".join(map(_version_row, model.overview.versions))
    signatures = "".join(map(_signature, model.signatures))
    if model.version is not None and not signatures:
        signatures = '<p class="wait">It has no signature, so that no request to it can be answered.</p>'
    return (
        f'<section class="card"><h2>{escape(model.overview.name)}{labels}</h2><div class="scroll"><table>'
        f"<tr><th>Version</th><th>State</th><th>Error</th></tr>{rows}</table></div>{signatures}</section>"
    )


def _version_row(status: VersionStatus) -> str:
    failed = status.state is State.END and status.code == 0
    kind = "dim" if failed else _CLASSES.get(status.state, "wait")
    error = f"{code_name(status.code)}: {status.message}" if status.code else ""
    return f'<tr><td>{status.version}</td><td class="{kind}">{status.state.name}</td><td>{escape(error)}</td></tr>'


def _signature(signature: ServedSignature) -> str:
    inputs = "".join(_end_row("in", end) for end in signature.inputs)
    outputs = "".join(_end_row("out", end) for end in signature.outputs)
    return (
        f'<h3>{escape(signature.name)}<span class="badge dim">{signature.method}</span></h3>'
        f'<div class="scroll"><table><tr><th></th><th>Name</th><th>Type</th><th>Shape</th></tr>{inputs}{outputs}'
        "</table></div>"
    )


def _end_row(direction: str, end: End) -> str:
    return (
        f'<tr><td class="dim">{direction}</td><td><code>{escape(end.name)}</code></td><td>{escape(end.type_name)}</td>'
        f"<td>{escape(end.shape_text)}</td></tr>"
    )


def _form(models: list[ServedModel]) -> str:
    choices = "".join(f"<option>{escape(name)}</option>" for name in _bodies(models))
    if not choices:
        return ""
    return (
        '<section class="card"><h2>Try a request</h2><form id="try"><label for="what">Model and signature</label>'
        f'<select id="what">{choices}</select><label for="url">POST</label><input id="url" spellcheck="false">'
        '<label for="body">Body</label><textarea id="body" spellcheck="false" placeholder="JSON"></textarea>'
        '<details><summary class="dim">Token</summary><label for="token">Sent as a bearer token, if there is one'
        '</label><input id="token" type="password" autocomplete="off"></details><button>Send</button> '
        '<span id="state" class="dim" role="status"></span></form><pre id="answer" aria-live="polite"></pre></section>'
    )


def _bodies(models: list[ServedModel]) -> dict[str, dict[str, str]]:
    """URLs and bodies of requests that could be sent, by model and signature."""
    return {
        f"{model.overview.name} / {signature.name}": {
            "url": f"v1/models/{quote(model.overview.name, safe='')}:{signature.method}",
            "body": _example_text(signature),
        }
        for model in models
        for signature in model.signatures
    }


def _example_text(signature: ServedSignature) -> str:
    example = signature.example_body()
    return "" if example is None else json.dumps(example)
