// One tensor: statistics, a histogram, a map of two of its axes, filters, its largest and smallest numbers, a file.

import { ask, fileAddress, isLive, problem, working } from "./api";
import { button, calmly, Child, facts, h, replace, shapeText, short } from "./dom";
import { Place } from "./place";
import { heatMap, histogram, tiles } from "./plots";

export function tensorPanel(panel: HTMLElement, place: Place, name: string, shape: number[], type: string, broken?: string): () => void {
  const numbers = h("div");
  const map = h("div");
  const filters = h("div");
  const window_ = h("div");
  const source = place.source.number;
  replace(panel, h("h2", { class: "wrap" }, name), h("p", {}, `${type}, ${shapeText(shape)}`), broken ? h("p", { class: "bad" }, `Incomplete: ${broken}. What is there is shown.`) : null,
    isLive && type !== "string" ? h("p", {}, h("a", { href: fileAddress(source, name), download: true, class: "button" }, "Download .npy")) : null, numbers, map, filters, window_);
  const end = isLive ? working(numbers, "tensor", { source, name }, (answer) => about(answer), "Reading the tensor") : (): void => undefined;
  if (!isLive) embedded(numbers, place, name);
  if (type === "string" || type === "variant" || shape.some((item) => item === 0)) return end;
  mapOf(map, window_, source, name, shape);
  if (shape.length === 4 && Math.max(shape[0], shape[1]) <= 31 && Math.max(shape[0], shape[1]) > 1 && isLive) filtersOf(filters, source, name, shape, 0);
  return end;
}

function about(answer: any): Node {
  if (answer.texts) return h("div", {}, h("h3", {}, "Texts"), h("ol", { start: 0 }, answer.texts.map((text: string) => h("li", { class: "wrap" }, text))));
  const list = (rows: [number, number[]][]): Child => h("table", { class: "small" }, h("tbody", {}, rows.map(([value, at]) => h("tr", {}, h("td", { class: "n" }, short(value)), h("td", { class: "quiet" }, `[${at.join(", ")}]`)))));
  return h("div", {}, statistics(answer.statistics), h("div", { class: "pair" }, h("div", {}, h("h3", {}, "Largest"), list(answer.largest)), h("div", {}, h("h3", {}, "Smallest"), list(answer.smallest))));
}

export function statistics(stats: any): HTMLElement {
  const odd = (value: number): Child => (value ? h("b", { class: "bad" }, value.toLocaleString("en")) : "0");
  return h("div", {}, facts([["from", short(stats.minimum)], ["to", short(stats.maximum)], ["mean", short(stats.mean)], ["deviation", short(stats.deviation)], ["norm", short(stats.norm)],
    ["zeros", stats.count ? `${stats.zeros.toLocaleString("en")} (${((100 * stats.zeros) / stats.count).toFixed(1)} %)` : "0"], ["NaN", odd(stats.nans)], ["infinite", odd(stats.infinities)]]),
  stats.histogram ? histogram(stats.histogram, "numbers") : null);
}

/** What a page that was written has of a tensor. */
function embedded(numbers: HTMLElement, place: Place, name: string): void {
  ask("checks", { source: place.source.number }).then((answer) => {
    const at = (answer.statistics.name as string[]).indexOf(name);
    if (at < 0) { replace(numbers, h("p", { class: "bad" }, "It is damaged, and could not be read.")); return; }
    const stats: any = {};
    for (const key of Object.keys(answer.statistics)) stats[key] = answer.statistics[key][at];
    if (stats.zeros === null) { replace(numbers, h("p", { class: "quiet" }, "It holds texts.")); return; }
    stats.count = stats.histogram ? stats.histogram.counts.reduce((a: number, b: number) => a + b, 0) + stats.nans + stats.infinities : 0;
    replace(numbers, statistics(stats));
  }).catch(() => replace(numbers, h("p", { class: "quiet" }, "There are no statistics in this page.")));
}

function mapOf(map: HTMLElement, window_: HTMLElement, source: number, name: string, given: number[]): void {
  const shape = given.length > 1 ? given : [1, given[0] ?? 1];
  const rank = shape.length;
  let axes = rank === 4 && Math.max(shape[0], shape[1]) <= 31 ? [rank - 2, rank - 1] : [rank - 2, rank - 1];
  const index = shape.map(() => 0);
  const picture = h("div");
  const draw = (): void => {
    const question: Record<string, unknown> = isLive ? { source, name, axes, index } : { source, name };
    ask("slice", question).then((answer) => {
      const all = answer.row_places.length === shape[axes[0]] && answer.column_places.length === shape[axes[1]];
      const place = (row: number, column: number): string => `[${shape.map((_, axis) => (axis === axes[0] ? answer.row_places[row] : axis === axes[1] ? answer.column_places[column] : index[axis])).slice(given.length > 1 ? 0 : 1).join(", ")}]`;
      replace(picture, all ? null : h("p", { class: "quiet" }, `${answer.rows} of ${shape[axes[0]].toLocaleString("en")} rows and ${answer.columns} of ${shape[axes[1]].toLocaleString("en")} columns, evenly spread`),
        heatMap(answer.rows, answer.columns, answer.values, "map of two axes", place));
      if (isLive) valuesOf(window_, source, name, shape, axes, index);
    }).catch((error) => replace(picture, isLive ? problem(error) : h("p", { class: "quiet" }, "The page has maps of the largest tensors; this is none of them.")));
  };
  const later = calmly(80, draw);
  const sliders = h("div", { class: "sliders" });
  const choose = (at: number): HTMLElement => h("select", { "aria-label": at ? "Axis across" : "Axis down", onchange: (event: Event) => {
    const value = Number((event.target as HTMLSelectElement).value);
    if (axes[1 - at] === value) axes = [axes[1], axes[0]];
    else axes[at] = value;
    controls();
    draw();
  } }, shape.map((length, axis) => h("option", { value: axis, selected: axes[at] === axis }, `axis ${axis} (${length})`)));
  const controls = (): void => replace(sliders, rank > 2 || (rank === 2 && given.length === 2) ? h("p", {}, "Down ", choose(0), " across ", choose(1)) : null,
    shape.map((length, axis) => (axes.includes(axis) || length < 2 ? null : h("label", {}, `axis ${axis} `, h("input", { type: "range", min: 0, max: length - 1, value: index[axis], oninput: (event: Event) => { index[axis] = Number((event.target as HTMLInputElement).value); (event.target as HTMLElement).nextElementSibling!.textContent = String(index[axis]); later(); } }), h("output", {}, index[axis])))));
  if (isLive) controls();
  replace(map, h("h3", {}, "Map"), sliders, picture);
  draw();
}

function valuesOf(place: HTMLElement, source: number, name: string, shape: number[], axes: number[], index: number[], row = 0, column = 0): void {
  ask("values", { source, name, axes, index, row, column }).then((answer) => {
    const move = (by: number, across: boolean): void => valuesOf(place, source, name, shape, axes, index, Math.max(0, Math.min(shape[axes[0]] - 1, row + (across ? 0 : by))), Math.max(0, Math.min(shape[axes[1]] - 1, column + (across ? by : 0))));
    const head = Array.from({ length: answer.columns }, (_, at) => h("th", { scope: "col" }, answer.column + at));
    const rows = Array.from({ length: answer.rows }, (_, at) => h("tr", {}, h("th", { scope: "row" }, answer.row + at), answer.values.slice(at * answer.columns, (at + 1) * answer.columns).map((value: unknown) => h("td", { class: typeof value === "string" && /NaN|Infinity/.test(value) ? "n bad" : "n" }, short(value)))));
    replace(place, h("h3", {}, "Values"), h("div", { class: "buttons" }, button("↑", () => move(-16, false), { "aria-label": "Rows before" }), button("↓", () => move(16, false), { "aria-label": "Rows after" }),
      button("←", () => move(-8, true), { "aria-label": "Columns before" }), button("→", () => move(8, true), { "aria-label": "Columns after" })),
    h("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": "Values" }, h("table", { class: "small values" }, h("thead", {}, h("tr", {}, h("td"), head)), h("tbody", {}, rows))));
  }).catch((error) => replace(place, problem(error)));
}

function filtersOf(place: HTMLElement, source: number, name: string, shape: number[], channel: number): void {
  ask("filters", { source, name, channel }).then((answer) => {
    const pick = answer.depth === 3 ? null : h("label", {}, "input channel ", h("input", { type: "number", min: 0, max: answer.channels - 1, value: channel, onchange: (event: Event) => filtersOf(place, source, name, shape, Number((event.target as HTMLInputElement).value) || 0) }));
    replace(place, h("h3", {}, `Filters, ${answer.count} of ${answer.outputs}`), pick, tiles(answer.count, answer.height, answer.width, answer.depth, answer.values));
  }).catch(() => replace(place));
}
