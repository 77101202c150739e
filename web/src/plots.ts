// Small plots: bars, lines, points and maps. Each says in words what it shows.

import { Child, h, s, short } from "./dom";

export interface Histogram { edges: number[]; counts: number[] }

/** How many numbers lie where. */
export function histogram(found: Histogram, label: string, names?: (edge: number) => string, height = 120): HTMLElement {
  const width = 480;
  const counts = found.counts;
  const most = Math.max(1, ...counts);
  const name = names ?? short;
  const each = width / Math.max(counts.length, 1);
  const bars = counts.map((value, at) => {
    const tall = value ? Math.max(1, (height * value) / most) : 0;
    const until = found.edges[at + 1];
    const told = `${name(found.edges[at])}${until === undefined ? " and more" : ` to ${name(until)}`}: ${value.toLocaleString("en")}`;
    return s("rect", { x: at * each, y: height - tall, width: Math.max(each - 1, 0.6), height: tall }, s("title", {}, told));
  });
  const last = found.edges[found.edges.length - 1];
  return h("figure", { class: "plot" },
    s("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${label}: ${counts.reduce((a, b) => a + b, 0).toLocaleString("en")} numbers from ${name(found.edges[0])} to ${name(last)}` }, bars),
    h("div", { class: "axis" }, h("span", {}, name(found.edges[0])), h("span", {}, `${label}, at most ${most.toLocaleString("en")}`), h("span", {}, name(last))));
}

/** A histogram small enough for a cell of a table. */
export function spark(found: Histogram | null): Child {
  if (!found) return "";
  const most = Math.max(1, ...found.counts);
  const path = found.counts.map((value, at) => (value ? `M${at * 2} 20V${(20 - Math.max(1, (20 * value) / most)).toFixed(1)}h1.6V20z` : "")).join("");
  return s("svg", { class: "spark", viewBox: `0 0 ${found.counts.length * 2} 20`, preserveAspectRatio: "none", role: "img", "aria-label": "histogram" }, s("path", { d: path }));
}

export interface Line { name: string; values: (number | null)[] }

/** Values over places. Hovering tells the nearest. */
export function lines(places: number[], series: Line[], label: string, names?: string[], height = 180): HTMLElement {
  const width = 640;
  const values = series.flatMap((line) => line.values).filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  if (!values.length) return h("p", { class: "quiet" }, `${label}: there are no numbers to draw.`);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) { low -= Math.abs(low) / 2 || 0.5; high += Math.abs(high) / 2 || 0.5; }
  const [left, right] = [places[0], places[places.length - 1]];
  const x = (place: number): number => (right === left ? width / 2 : 8 + ((width - 16) * (place - left)) / (right - left));
  const y = (value: number): number => 8 + ((height - 16) * (high - value)) / (high - low);
  const drawn = series.map((line, number) => {
    let path = "";
    let isOpen = false;
    line.values.forEach((value, at) => {
      if (typeof value !== "number" || !Number.isFinite(value)) { isOpen = false; return; }
      path += `${isOpen ? "L" : "M"}${x(places[at]).toFixed(1)} ${y(value).toFixed(1)}`;
      isOpen = true;
    });
    const dots = series.length > 12 ? [] : line.values.map((value, at) => (typeof value !== "number" || !Number.isFinite(value) ? null :
      s("circle", { cx: x(places[at]), cy: y(value), r: 3 }, s("title", {}, `${line.name}, ${names ? names[at] : short(places[at])}: ${short(value)}`))));
    return s("g", { class: `line c${number % 8}` }, s("path", { d: path }, s("title", {}, line.name)), dots.filter((dot) => dot !== null) as SVGElement[]);
  });
  const first = names ? names[0] : short(left);
  const last = names ? names[names.length - 1] : short(right);
  return h("figure", { class: "plot lines" },
    s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${label}: from ${short(low)} to ${short(high)}` }, drawn),
    h("div", { class: "axis" }, h("span", {}, first), h("span", {}, `${label}: ${short(low)} to ${short(high)}`), h("span", {}, last)),
    series.length > 1 && series.length <= 12 ? h("div", { class: "legend" }, series.map((line, number) => h("span", { class: "key" }, h("i", { class: `c${number % 8}`, "aria-hidden": "true" }, "●"), ` ${line.name}`))) : null);
}

type Number_ = number | string | boolean | null;

function numeric(value: Number_): number {
  return typeof value === "number" ? value : typeof value === "boolean" ? Number(value) : value === "Infinity" ? Infinity : value === "-Infinity" ? -Infinity : NaN;
}

/** The colour of a number between -1 and 1: blue, the ground, red. */
function tint(part: number, dark: boolean): [number, number, number] {
  const ground = dark ? [24, 28, 36] : [250, 250, 250];
  const end = part < 0 ? [59, 110, 214] : [214, 78, 48];
  const weight = Math.min(1, Math.abs(part)) ** 0.8;
  return [0, 1, 2].map((at) => Math.round(ground[at] + (end[at] - ground[at]) * weight)) as [number, number, number];
}

export const isDark = (): boolean => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Numbers of two axes as colours. NaN is marked in magenta, infinite numbers in yellow. */
export function heatMap(rows: number, columns: number, values: Number_[], label: string, where: (row: number, column: number) => string): HTMLElement {
  if (!rows || !columns) return h("p", { class: "quiet" }, "There are no numbers in it.");
  const found = values.map(numeric);
  let most = 0;
  let odd = 0;
  for (const value of found) {
    if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
    else odd += 1;
  }
  const canvas = h("canvas", { width: columns, height: rows, role: "img", "aria-label": `${label}: ${rows} by ${columns}, up to ${short(most)}${odd ? `, ${odd} not finite` : ""}` });
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, rows);
  const dark = isDark();
  found.forEach((value, at) => {
    const colour = Number.isNaN(value) ? [220, 0, 200] : !Number.isFinite(value) ? [240, 200, 0] : tint(most ? value / most : 0, dark);
    image.data.set([...colour, 255], 4 * at);
  });
  context.putImageData(image, 0, 0);
  const zoom = Math.max(1, Math.min(24, Math.floor(460 / Math.max(rows, columns))));
  canvas.style.width = `${columns * zoom}px`;
  canvas.style.aspectRatio = `${columns} / ${rows}`;
  const told = h("output", { class: "quiet" }, odd ? `${odd.toLocaleString("en")} of these are not finite.` : "Point at a cell to see its number.");
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)));
    const row = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows)));
    told.textContent = `${where(row, column)}: ${short(values[row * columns + column])}`;
  });
  const scale = h("div", { class: "scale" }, h("span", {}, short(-most)), h("span", { class: "ramp" }), h("span", {}, short(most)),
    odd ? h("span", { class: "odd" }, "NaN magenta, infinite yellow") : null);
  return h("figure", { class: "plot map" }, canvas, scale, told);
}

/** Pictures of numbers, three channels in colour, each stretched over its own range. */
export function tiles(count: number, height: number, width: number, depth: number, values: Number_[]): HTMLElement {
  const found = values.map(numeric);
  const each = height * width * depth;
  const pictures = Array.from({ length: count }, (_, number) => {
    const part = found.slice(number * each, (number + 1) * each);
    const sound = part.filter(Number.isFinite);
    const [low, high] = [Math.min(...sound), Math.max(...sound)];
    const canvas = h("canvas", { width, height, role: "img", "aria-label": `filter ${number}: ${short(low)} to ${short(high)}`, title: `filter ${number}: ${short(low)} to ${short(high)}` });
    const context = canvas.getContext("2d")!;
    const image = context.createImageData(width, height);
    for (let at = 0; at < height * width; at += 1) {
      for (let channel = 0; channel < 3; channel += 1) {
        const value = part[at * depth + (depth === 3 ? channel : 0)];
        image.data[4 * at + channel] = Number.isFinite(value) ? (high > low ? (255 * (value - low)) / (high - low) : 128) : channel === 1 ? 0 : 220;
      }
      image.data[4 * at + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  });
  return h("div", { class: "tiles" }, pictures);
}

/** Points in a plane, by a colour for each. Choosing one calls a function. */
export function points(x: number[], y: number[], weight: (number | null)[] | null, names: string[], label: string, onpick: (at: number) => void): HTMLElement {
  const width = 640;
  const height = 440;
  const [left, right, low, high] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const px = x.map((value) => 12 + ((width - 24) * (value - left)) / (right - left || 1));
  const py = y.map((value) => 12 + ((height - 24) * (high - value)) / (high - low || 1));
  const canvas = h("canvas", { width: width * 2, height: height * 2, role: "img", "aria-label": `${label}: ${names.length} points` });
  const context = canvas.getContext("2d")!;
  context.scale(2, 2);
  const logs = weight?.map((value) => Math.log1p(Math.max(0, value ?? 0)));
  const most = logs ? Math.max(1e-9, ...logs) : 1;
  const ground = isDark() ? 70 : 45;
  px.forEach((_, at) => {
    context.fillStyle = `hsl(${logs ? 220 - 200 * (logs[at] / most) : 215} 75% ${ground}% / .75)`;
    context.beginPath();
    context.arc(px[at], py[at], 3, 0, 7);
    context.fill();
  });
  const told = h("output", { class: "quiet" }, "Point at a dot to see its key; click it to look it up.");
  const nearest = (event: MouseEvent): number => {
    const box = canvas.getBoundingClientRect();
    const [mx, my] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    let best = -1;
    let distance = 144;
    px.forEach((_, at) => {
      const apart = (px[at] - mx) ** 2 + (py[at] - my) ** 2;
      if (apart < distance) { best = at; distance = apart; }
    });
    return best;
  };
  canvas.addEventListener("pointermove", (event) => {
    const at = nearest(event);
    if (at >= 0) told.textContent = names[at];
  });
  canvas.addEventListener("click", (event) => { const at = nearest(event); if (at >= 0) onpick(at); });
  return h("figure", { class: "plot points" }, canvas, told);
}
