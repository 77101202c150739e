// Sizes as areas: scopes and tensors in each other, by the squarified layout of Bruls, Huizing and van Wijk.

import { button, h, replace, s, size } from "./dom";

interface Item { name: string; label: string; value: number; row: number; inner: Map<string, Item> }
interface Area { item: Item; x: number; y: number; w: number; h: number }

const WIDTH = 1000;
const HEIGHT = 560;

export function treeMap(names: string[], bytes: (number | null)[], elements: number[], onpick: (row: number) => void): HTMLElement {
  const root: Item = { name: "", label: "all", value: 0, row: -1, inner: new Map() };
  names.forEach((name, row) => {
    const value = bytes[row] ?? elements[row];
    let at = root;
    at.value += value;
    const parts = name.split("/").slice(0, 32);
    parts.forEach((part, number) => {
      const key = number === parts.length - 1 ? `${part}#${row}` : part;
      let next = at.inner.get(key);
      if (!next) at.inner.set(key, (next = { name: parts.slice(0, number + 1).join("/"), label: part, value: 0, row: number === parts.length - 1 ? row : -1, inner: new Map() }));
      next.value += value;
      at = next;
    });
  });
  const holder = h("div", { class: "treemap" });
  const show = (path: Item[]): void => {
    let top = path[path.length - 1];
    while (top.inner.size === 1 && top.row < 0 && [...top.inner.values()][0].row < 0) { top = [...top.inner.values()][0]; path = [...path, top]; }
    const areas = squarified([...top.inner.values()].filter((item) => item.value > 0), 0, 0, WIDTH, HEIGHT);
    const cells = areas.map(({ item, x, y, w, h: tall }, at) => {
      const inner = item.row < 0 && w > 60 && tall > 40 ? squarified([...item.inner.values()].filter((one) => one.value > 0), x + 2, y + 18, w - 4, tall - 20) : [];
      const act = (): void => (item.row >= 0 ? onpick(item.row) : show([...path, item]));
      return s("g", { tabindex: 0, role: "button", "aria-label": `${item.name}, ${size(item.value)}`, onclick: act, onkeydown: (event: KeyboardEvent) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } } },
        s("title", {}, `${item.name}: ${size(item.value)}, ${((100 * item.value) / (root.value || 1)).toFixed(1)} %`),
        s("rect", { x, y, width: Math.max(0, w - 1), height: Math.max(0, tall - 1), class: `area a${at % 6}` }),
        inner.slice(0, 300).map((one) => s("rect", { x: one.x, y: one.y, width: Math.max(0, one.w - 1), height: Math.max(0, one.h - 1), class: "inner" })),
        w > 46 && tall > 16 ? s("text", { x: x + 5, y: y + 13 }, `${item.label.slice(0, Math.floor(w / 7))}${w > 150 ? ` ${size(item.value)}` : ""}`) : null);
    });
    const trail = path.map((item, at) => [at ? " / " : null, at === path.length - 1 ? h("b", {}, item.label) : button(item.label, () => show(path.slice(0, at + 1)), { class: "link" })]);
    replace(holder, h("p", {}, trail, ` ${size(top.value)}`), s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Map of sizes" }, cells));
  };
  show([root]);
  return holder;
}

function squarified(items: Item[], x: number, y: number, w: number, h_: number): Area[] {
  const found: Area[] = [];
  const sorted = [...items].sort((a, b) => b.value - a.value).slice(0, 2000);
  let left = sorted.reduce((sum, item) => sum + item.value, 0);
  let at = 0;
  while (at < sorted.length && w > 0.5 && h_ > 0.5 && left > 0) {
    const side = Math.min(w, h_);
    const scale = (w * h_) / left;
    let row: Item[] = [];
    let sum = 0;
    let worst = Infinity;
    while (at < sorted.length) {
      const next = sum + sorted[at].value;
      const thick = (next * scale) / side;
      const ratio = Math.max(...[row[0] ?? sorted[at], sorted[at]].map((item) => { const long = (item.value * scale) / thick; return Math.max(long / thick, thick / long); }));
      if (row.length && ratio > worst) break;
      worst = ratio;
      row = [...row, sorted[at]];
      sum = next;
      at += 1;
    }
    const thick = (sum * scale) / side;
    let along = 0;
    for (const item of row) {
      const long = (item.value * scale) / thick;
      found.push(w >= h_ ? { item, x, y: y + along, w: thick, h: long } : { item, x: x + along, y, w: long, h: thick });
      along += long;
    }
    if (w >= h_) { x += thick; w -= thick; } else { y += thick; h_ -= thick; }
    left -= sum;
  }
  return found;
}
