// All tensors: a table, a tree map, and what is known of the chosen one.

import { ask, isInPage, isLive, problem, working } from "./api";
import { button, calmly, count, h, notice, replace, shapeText, short, size } from "./dom";
import { Place } from "./place";
import { spark } from "./plots";
import { Column, Table } from "./table";
import { tensorPanel } from "./tensor";
import { treeMap } from "./treemap";

export interface Weights {
  path: string; format: string; files: [string, number | null][]; remarks: string[]; types: string[]; name: string[]; type: number[];
  shape: number[][]; bytes: (number | null)[]; broken: Record<string, string>; problems: string[];
}

const elements = (shape: number[]): number => shape.reduce((product, item) => product * item, 1);

export function weightsView(place: Place): void {
  ask("weights", { source: place.source.number }).then((answer: Weights) => show(place, answer)).catch((error) => replace(place.element, problem(error)));
}

function show(place: Place, weights: Weights): void {
  if (!weights.name.length) { replace(place.element, notice("empty", "No tensors", h("p", {}, "There is nothing stored here."))); return; }
  const total = weights.bytes.reduce((sum: number, item) => sum + (item ?? 0), 0);
  const broken = new Map(Object.entries(weights.broken)); // a tensor may be called like something that every object has
  const lowered = weights.name.map((name) => name.toLowerCase());
  const columns: Column[] = [
    { title: "name", width: "minmax(14rem, 3fr)", value: (row) => weights.name[row], show: (row) => (broken.has(weights.name[row]) ? [h("span", { class: "bad", title: broken.get(weights.name[row]) }, "⚠ incomplete "), weights.name[row]] : weights.name[row]) },
    { title: "type", width: "6rem", value: (row) => weights.types[weights.type[row]] },
    { title: "shape", width: "minmax(7rem, 1fr)", value: (row) => shapeText(weights.shape[row]) },
    { title: "elements", width: "7rem", isNumber: true, value: (row) => elements(weights.shape[row]), show: (row) => elements(weights.shape[row]).toLocaleString("en") },
    { title: "bytes", width: "6.5rem", isNumber: true, value: (row) => weights.bytes[row], show: (row) => size(weights.bytes[row]) },
  ];
  const side = h("aside", { class: "panel wide", "aria-label": "About the chosen tensor" }, h("p", { class: "quiet" }, "Choose a tensor to see its numbers."));
  let end = (): void => undefined;
  const pick = (row: number): void => { end(); end = tensorPanel(side, place, weights.name[row], weights.shape[row], weights.types[weights.type[row]], broken.get(weights.name[row])); };
  const holder = h("div", { class: "holder" });
  let table = new Table(columns, weights.name.length, "Tensors", pick);
  const filter = h("input", { type: "search", id: "filter", placeholder: "Part of a name, or type:float32, shape:128", "aria-label": "Filter tensors" });
  const apply = (): void => table.filter(fits(filter.value, weights, lowered));
  filter.addEventListener("input", calmly(8, apply));
  const put = (): void => replace(holder, h("div", { class: "toolbar" }, h("div", { class: "searching" }, filter), table.shown,
    button("Table", () => put()), button("Map of sizes", () => replace(holder, h("div", { class: "toolbar" }, button("Table", () => put())), treeMap(weights.name, weights.bytes, weights.shape.map(elements), (row) => { put(); table.choose(row); pick(row); }))), stats), table.element);
  const stats = h("span", {});
  const withStatistics = (answer: any): void => {
    const rows = new Map<string, number>((answer.statistics.name as string[]).map((name, at) => [name, at]));
    const of = (key: string) => (row: number): number | null => { const at = rows.get(weights.name[row]); const value = at === undefined ? null : answer.statistics[key][at]; return typeof value === "number" ? value : null; };
    const more: Column[] = ["minimum", "maximum", "mean", "deviation", "norm", "zeros", "nans", "infinities"].map((key) => ({
      title: key === "nans" ? "NaN" : key === "infinities" ? "infinite" : key, width: "6.5rem", isNumber: true, value: of(key),
      show: (row: number) => { const value = of(key)(row); return (key === "nans" || key === "infinities") && value ? h("b", { class: "bad" }, short(value)) : short(value); },
    }));
    more.push({ title: "histogram", width: "8rem", value: () => null, show: (row) => { const at = rows.get(weights.name[row]); return at === undefined ? h("span", { class: "bad" }, "damaged") : spark(answer.statistics.histogram[at]); } });
    table = new Table([...columns, ...more], weights.name.length, "Tensors", pick);
    replace(stats);
    apply();
    put();
  };
  const compute = (): void => { working(stats, "checks", { source: place.source.number }, withStatistics, "Reading all tensors"); };
  if (isLive) stats.append(button("Statistics of all", compute));
  const problems = [...weights.problems, ...weights.remarks];
  replace(place.element, h("div", { class: "fill" },
    problems.length ? h("details", { class: `remarks${weights.problems.length ? " bad" : ""}` }, h("summary", {}, weights.problems.length ? `${count(weights.problems.length, "problem")} with the files: what can be read is shown` : count(problems.length, "remark")), problems.map((text) => h("p", { class: "wrap" }, text))) : null,
    h("p", { class: "quiet line" }, `${weights.format}, ${size(total)} in ${weights.files.length || 1} ${weights.files.length === 1 ? "file" : "files"}: ${weights.path}`),
    h("div", { class: "split" }, holder, side)));
  put();
  if (isInPage("checks", { source: place.source.number })) compute();
  const wanted = place.given.get("tensor");
  const row = wanted === null ? -1 : weights.name.indexOf(wanted);
  if (row >= 0) { table.choose(row); pick(row); }
}

/** What a filter lets through: parts of names, all of which have to fit, and type: and shape:. */
export function fits(text: string, weights: Weights, lowered: string[]): ((row: number) => boolean) | null {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const types = words.filter((word) => word.startsWith("type:")).map((word) => word.slice(5));
  const shapes = words.filter((word) => word.startsWith("shape:")).map((word) => word.slice(6));
  const parts = words.filter((word) => !word.startsWith("type:") && !word.startsWith("shape:"));
  return (row) => parts.every((part) => lowered[row].includes(part)) && types.every((type) => weights.types[weights.type[row]].includes(type)) &&
    shapes.every((shape) => weights.shape[row].join("x").includes(shape.replace(/[\u00d7,*]/g, "x")));
}
