// The checkpoints of a run: a timeline, metrics, and how two of them differ.

import { ask, forget, isLive, problem, working } from "./api";
import { button, Child, count, facts, h, notice, replace, short, size } from "./dom";
import { Place } from "./place";
import { lines } from "./plots";
import { Table } from "./table";

interface Entry { name: string; step: number | null; time: number; bytes: number; metrics: Record<string, number>; is_latest: boolean; is_pinned: boolean; problems: string[]; has_graph: boolean }

export function historyView(place: Place): void {
  ask("history", { source: place.source.number }).then((answer) => show(place, answer.checkpoints as Entry[])).catch((error) => replace(place.element, problem(error)));
}

function show(place: Place, entries: Entry[]): void {
  if (!entries.length) { replace(place.element, notice("empty", "No checkpoints", h("p", {}, "There are none in this folder."))); return; }
  const source = place.source.number;
  const metrics = [...new Set(entries.flatMap((item) => Object.keys(item.metrics)))];
  const states = h("div", { role: "status" });
  const health = new Map<string, string>();
  const state = (item: Entry): Child => [item.is_latest ? h("span", { class: "tag" }, "latest") : null, item.is_pinned ? h("span", { class: "tag" }, "pinned") : null,
    item.problems.length ? h("span", { class: "tag bad", title: item.problems.join("; ") }, "damaged") : health.has(item.name) ? h("span", { class: `tag ${health.get(item.name) === "healthy" ? "good" : "bad"}` }, health.get(item.name)!) : null];
  const open = (item: Entry, view: string): void => { ask("open", { source, name: item.name }).then((answer) => { forget("sources"); return place.reopen(answer.source, view); }).catch((error) => replace(states, problem(error))); };
  const examine = (item: Entry): void => {
    working(states, "health", { source, name: item.name }, (answer) => {
      health.set(item.name, answer.is_healthy ? "healthy" : "not fit for use");
      table.refresh();
      return h("div", { class: "card" }, h("h2", {}, `${item.name}: ${health.get(item.name)}`), answer.findings.length ? h("ul", {}, answer.findings.map(([what, tensor, detail]: [string, string | null, string]) => h("li", { class: "wrap" }, `${what}${tensor ? ` ${tensor}` : ""}: ${detail}`))) : h("p", {}, `Nothing is wrong with ${count(answer.tensors, "tensor")}.`));
    }, `Reading ${item.name}`);
  };
  const table = new Table([
    { title: "checkpoint", width: "minmax(10rem, 2fr)", value: (row) => entries[row].name },
    { title: "step", width: "6rem", isNumber: true, value: (row) => entries[row].step, show: (row) => entries[row].step?.toLocaleString("en") ?? "" },
    { title: "saved", width: "11rem", value: (row) => entries[row].time, show: (row) => new Date(1000 * entries[row].time).toLocaleString("en-GB") },
    { title: "bytes", width: "6.5rem", isNumber: true, value: (row) => entries[row].bytes, show: (row) => size(entries[row].bytes) },
    ...metrics.map((name) => ({ title: name, width: "7rem", isNumber: true, value: (row: number) => entries[row].metrics[name] ?? null, show: (row: number) => short(entries[row].metrics[name]) })),
    { title: "state", width: "9rem", value: (row) => (entries[row].problems.length ? "damaged" : ""), show: (row) => state(entries[row]) },
    ...(isLive ? [{ title: "open", width: "11rem", value: () => null, show: (row: number) => [button("Weights", () => open(entries[row], "weights"), { class: "link" }), " ", button("Health", () => examine(entries[row]), { class: "link" })] }] : []),
  ], entries.length, "Checkpoints", undefined, "checkpoint");
  table.element.classList.add("short");
  const names = entries.map((item) => item.name);
  const places = entries.every((item) => item.step !== null) ? entries.map((item) => item.step!) : entries.map((_, at) => at);
  const plots = metrics.slice(0, 12).map((name) => lines(places, [{ name, values: entries.map((item) => item.metrics[name] ?? null) }], name, names));
  const damaged = entries.filter((item) => item.problems.length);
  replace(place.element, h("div", { class: "page" }, timeline(entries), table.element, damaged.length ? h("details", { class: "remarks bad" }, h("summary", {}, `${damaged.length} damaged`), damaged.flatMap((item) => item.problems.map((text) => h("p", { class: "wrap" }, text)))) : null, states,
    h("div", { class: "sections" }, h("section", { class: "card" }, h("h2", {}, "Metrics"), plots.length ? plots : h("p", { class: "quiet" }, "The ledger of this folder has none: its saver was told of no metrics.")),
      h("section", { class: "card" }, h("h2", {}, "Bytes"), lines(places, [{ name: "bytes", values: entries.map((item) => item.bytes) }], "bytes", names)),
      comparing(place, entries), drifting(place, entries))));
}

function timeline(entries: Entry[]): HTMLElement {
  const [first, last] = [Math.min(...entries.map((item) => item.time)), Math.max(...entries.map((item) => item.time))];
  return h("ol", { class: "timeline", "aria-label": "Timeline" }, entries.map((item) => h("li", {
    class: item.problems.length ? "bad" : item.is_latest ? "latest" : item.is_pinned ? "pinned" : "", title: `${item.name}, ${new Date(1000 * item.time).toLocaleString("en-GB")}, ${size(item.bytes)}`,
    style: { left: `${last > first ? 2 + (96 * (item.time - first)) / (last - first) : 50}%` },
  }, h("span", { class: "hidden" }, item.name))));
}

function comparing(place: Place, entries: Entry[]): HTMLElement {
  const source = place.source.number;
  const result = h("div");
  if (!isLive) return h("section", { class: "card" }, h("h2", {}, "Difference"), h("p", { class: "quiet" }, "Comparing takes the viewer itself: tensorkeep view PATH"));
  const pick = (label: string, at: number): HTMLSelectElement => h("select", { "aria-label": label }, entries.map((item, number) => h("option", { value: item.name, selected: number === at }, item.name)));
  const [first, second] = [pick("First checkpoint", Math.max(0, entries.length - 2)), pick("Second checkpoint", entries.length - 1)];
  const run = (): void => { working(result, "comparison", { source, first: first.value, second: second.value }, difference, "Comparing all numbers"); };
  const graphs = async (): Promise<void> => {
    const before = await ask("open", { source, name: first.value });
    const after = await ask("open", { source, name: second.value });
    forget("sources");
    await place.reopen(after.source, "graph", { before: String(before.source) });
  };
  const canDraw = entries.filter((item) => item.has_graph).length > 1;
  return h("section", { class: "card" }, h("h2", {}, "Difference"), h("div", { class: "buttons" }, first, " and ", second, button("Compare", run, { class: "main" }),
    canDraw ? button("Graphs in place", () => void graphs().catch((error) => replace(result, problem(error)))) : null), result);
}

function difference(answer: any): HTMLElement {
  const changed = answer.changed as [string, number, number, number, number, number | null, number | null][];
  const table = new Table([
    { title: "tensor", width: "minmax(12rem, 2fr)", value: (row) => changed[row][0] },
    { title: "differing", width: "8rem", isNumber: true, value: (row) => changed[row][1] / changed[row][2], show: (row) => `${((100 * changed[row][1]) / changed[row][2]).toFixed(1)} %` },
    { title: "largest", width: "7rem", isNumber: true, value: (row) => changed[row][3], show: (row) => short(changed[row][3]) },
    { title: "mean", width: "7rem", isNumber: true, value: (row) => changed[row][4], show: (row) => short(changed[row][4]) },
    { title: "relative", width: "7rem", isNumber: true, value: (row) => changed[row][5], show: (row) => short(changed[row][5]) },
    { title: "cosine", width: "7rem", isNumber: true, value: (row) => changed[row][6], show: (row) => short(changed[row][6]) },
  ], changed.length, "Changed tensors");
  table.element.classList.add("short");
  const list = (title: string, items: Child[]): Child => (items.length ? [h("h3", {}, title), h("ul", {}, items.slice(0, 200).map((item) => h("li", { class: "wrap" }, item)))] : null);
  return h("div", {}, facts([["changed", changed.length], ["the same", answer.same.length], ["added", answer.added.length], ["removed", answer.removed.length], ["of another type or shape", answer.reshaped.length]]),
    changed.length ? table.element : h("p", {}, "All tensors that both have are the same."), list("Added", answer.added), list("Removed", answer.removed),
    list("Of another type or shape", answer.reshaped.map(([name, old, now]: [string, string, string]) => `${name}: ${old} → ${now}`)));
}

function drifting(place: Place, entries: Entry[]): HTMLElement | null {
  if (!isLive || entries.filter((item) => !item.problems.length).length < 2) return null;
  const result = h("div");
  const run = (): void => {
    working(result, "drift", { source: place.source.number }, (answer) => {
      const tensors = answer.tensors as [string, (number | null)[], number | null][];
      const names = (answer.labels as string[]).slice(1);
      return h("div", {}, answer.left_out ? h("p", { class: "quiet" }, `The last ${answer.labels.length} checkpoints; ${answer.left_out} before them are left out.`) : null,
        lines(names.map((_, at) => at), tensors.slice(0, 10).map(([name, values]) => ({ name, values })), "relative change from checkpoint to checkpoint, of the ten tensors that moved most", names),
        h("table", { class: "small" }, h("thead", {}, h("tr", {}, h("th", {}, "tensor"), h("th", {}, "from first to last"))), h("tbody", {}, tensors.slice(0, 30).map(([name, , total]) => h("tr", {}, h("td", { class: "wrap" }, name), h("td", { class: "n" }, short(total)))))));
    }, "Reading all checkpoints");
  };
  return h("section", { class: "card" }, h("h2", {}, "Drift"), h("p", { class: "quiet" }, "How far tensors moved from each checkpoint to the next. All of them are read."), button("Tell the drift", run, { class: "main" }), result);
}
