// Embedding tables: what is in each, a key looked up, nearest rows, a map.

import { ask, isLive, problem, working } from "./api";
import { button, Child, count, facts, h, notice, replace, short, size } from "./dom";
import { Place } from "./place";
import { histogram, points } from "./plots";
import { Table } from "./table";

interface Told { name: string; keys: number; filtered: number; dim: number; dtype: string; shards: number; slots: string[]; has_freqs: boolean; has_versions: boolean; problems: string[] }

export function tablesView(place: Place): void {
  ask("tables", { source: place.source.number }).then((answer) => {
    const tables = answer.tables as Told[];
    if (!tables.length) { replace(place.element, notice("empty", "No embedding tables", h("p", {}, "This checkpoint has none."))); return; }
    const wanted = place.given.get("table");
    const chosen = tables.find((item) => item.name === wanted) ?? tables[0];
    const list = new Table([
      { title: "table", width: "minmax(12rem, 2fr)", value: (row) => tables[row].name },
      { title: "keys", width: "8rem", isNumber: true, value: (row) => tables[row].keys, show: (row) => tables[row].keys.toLocaleString("en") },
      { title: "counted only", width: "8rem", isNumber: true, value: (row) => tables[row].filtered, show: (row) => tables[row].filtered.toLocaleString("en") },
      { title: "row", width: "8rem", value: (row) => `${tables[row].dtype} × ${tables[row].dim}` },
      { title: "slots", width: "minmax(8rem, 1fr)", value: (row) => tables[row].slots.join(", ") || "none" },
      { title: "shards", width: "5rem", isNumber: true, value: (row) => tables[row].shards },
    ], tables.length, "Embedding tables", (row) => about(body, place, tables[row]), "table");
    list.element.classList.add("short");
    const body = h("div", { class: "sections" });
    replace(place.element, h("div", { class: "page" }, list.element, body));
    list.choose(tables.indexOf(chosen));
    about(body, place, chosen);
  }).catch((error) => replace(place.element, problem(error)));
}

function about(body: HTMLElement, place: Place, told: Told): void {
  const given = { source: place.source.number, name: told.name };
  const [inside, keys, map, looked] = [h("div"), h("div"), h("div"), h("div")];
  const section = (title: string, ...children: Child[]): HTMLElement => h("section", { class: "card" }, h("h2", {}, title), ...children);
  const entry = h("input", { type: "text", inputmode: "numeric", placeholder: "keys: 7 1003", "aria-label": "Keys" });
  const by = h("select", { "aria-label": "Nearest by" }, h("option", { value: "cosine" }, "by cosine"), h("option", { value: "product" }, "by product"));
  const look = (): void => { ask("table_lookup", { ...given, keys: entry.value }).then((answer) => replace(looked, answer.rows.map(rowView))).catch((error) => replace(looked, problem(error))); };
  const near = (): void => {
    working(looked, "table_nearest", { ...given, keys: entry.value, by: by.value }, (answer) => h("div", {}, h("h3", {}, `Nearest to ${answer.key}`),
      h("table", { class: "small" }, h("thead", {}, h("tr", {}, h("th", {}, "key"), h("th", {}, answer.by))), h("tbody", {}, answer.rows.map(([key, score]: [string, number]) => h("tr", {}, h("td", {}, button(key, () => { entry.value = key; look(); }, { class: "link" })), h("td", { class: "n" }, short(score))))))), "Comparing all rows");
  };
  const form = h("form", { class: "buttons", onsubmit: (event: Event) => { event.preventDefault(); look(); } }, entry, h("button", { type: "submit", class: "main" }, "Look up"), by, button("Nearest rows", near));
  replace(body, told.problems.map((text) => h("p", { class: "bad wrap" }, text)),
    section(told.name, inside), section("A key", isLive ? form : h("p", { class: "quiet" }, "Looking keys up takes the viewer itself: tensorkeep view PATH"), looked),
    section("Map", map), section(told.has_freqs ? "Most frequent keys" : "Keys", keys));
  working(inside, "table", given, (answer) => h("div", {}, facts([["keys with rows", told.keys.toLocaleString("en")], ["bytes", size(answer.bytes)], ["keys from", answer.keys_from ?? ""], ["to", answer.keys_to ?? ""],
    ["versions", answer.versions_from === null ? "not stored" : `${answer.versions_from} to ${answer.versions_to}`], ["rows of zeros", answer.zero_rows.toLocaleString("en")], ["rows not finite", answer.not_finite ? h("b", { class: "bad" }, answer.not_finite) : "0"]]),
  h("div", { class: "pair" }, answer.norms.counts.length ? histogram(answer.norms, "lengths of rows") : null, answer.frequencies?.counts.length ? histogram(answer.frequencies, "how often keys occurred") : null)), "Reading the table");
  working(keys, "table_keys", given, (answer) => {
    const rows = answer.rows as [string, number | null, number | null][];
    if (!rows.length) return h("p", { class: "quiet" }, "The table is empty.");
    const table = new Table([
      { title: "key", width: "minmax(10rem, 1fr)", value: (row) => rows[row][0] },
      { title: "frequency", width: "8rem", isNumber: true, value: (row) => rows[row][1], show: (row) => rows[row][1]?.toLocaleString("en") ?? "" },
      { title: "version", width: "8rem", isNumber: true, value: (row) => rows[row][2], show: (row) => rows[row][2]?.toLocaleString("en") ?? "" },
    ], rows.length, "Keys", isLive ? (row) => { entry.value = rows[row][0]; look(); } : undefined, "key");
    table.element.classList.add("short");
    return h("div", {}, h("p", { class: "quiet" }, `${count(rows.length, "key")} of ${answer.keys.toLocaleString("en")}`), table.element);
  }, "Reading the keys");
  working(map, "table_map", given, (answer) => (!answer.keys.length ? h("p", { class: "quiet" }, "There are no rows to draw.") : h("div", {},
    h("p", { class: "quiet" }, `${count(answer.keys.length, "row")} of ${answer.of.toLocaleString("en")}, drawn at random, by their two principal components, which hold ${(100 * (answer.share[0] ?? 0)).toFixed(0)} % and ${(100 * (answer.share[1] ?? 0)).toFixed(0)} % of the variance${answer.frequency ? "; the redder, the more frequent" : ""}`),
    points(answer.x, answer.y, answer.frequency, answer.keys.map((key: string, at: number) => `key ${key}${answer.frequency ? `, ${answer.frequency[at]} times` : ""}`), "Map of rows", (at) => { entry.value = answer.keys[at]; if (isLive) look(); }))), "Drawing a map");
}

function rowView(row: any): HTMLElement {
  return h("div", { class: "found" }, facts([["key", row.key], ["state", row.state], ["frequency", row.frequency ?? "not stored"], ["version", row.version ?? "not stored"]]),
    row.row ? h("pre", { class: "wrap" }, row.row.map(short).join("  ")) : h("p", { class: "quiet" }, "It has no row."));
}
