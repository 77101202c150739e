// Where boxes go. Each open scope is laid out by itself, inner ones first, so that no layout is large. It runs in a worker.

import * as dagre from "@dagrejs/dagre";
import { Level } from "./model";

export interface Placed {
  /** By number of the box: left, top, width, height, all of the page. */
  boxes: Map<number, [number, number, number, number]>;
  /** By "from to" of a level, the points between, of the page. */
  bends: Map<string, number[]>;
  width: number;
  height: number;
}

const GAP = 26;
const LAYER = 44;
const PADDING = 18;
const HEAD = 26;
const MOST_BY_DAGRE = 220;

interface Inner { width: number; height: number; at: Map<number, [number, number]>; bends: Map<string, number[]> }

export function place(levels: Level[]): Placed {
  const inner = new Map<number, Inner>();
  for (const level of levels) inner.set(level.scope, arrange(level, inner));
  const root = levels[levels.length - 1].scope;
  const found: Placed = { boxes: new Map(), bends: new Map(), width: inner.get(root)!.width, height: inner.get(root)!.height };
  const sizes = new Map<number, [number, number]>();
  for (const level of levels) level.items.forEach((id, at) => sizes.set(id, [level.sizes[2 * at], level.sizes[2 * at + 1]]));
  const put = (scope: number, left: number, top: number): void => {
    const own = inner.get(scope)!;
    for (const [id, [x, y]] of own.at) {
      const inside = inner.get(id);
      const [width, height] = inside ? [inside.width + 2 * PADDING, inside.height + HEAD + PADDING] : sizes.get(id)!;
      found.boxes.set(id, [left + x, top + y, width, height]);
      if (inside) put(id, left + x + PADDING, top + y + HEAD);
    }
    for (const [key, points] of own.bends) found.bends.set(key, points.map((value, at) => value + (at % 2 ? top : left)));
  };
  put(root, PADDING, PADDING);
  found.width += 2 * PADDING;
  found.height += 2 * PADDING;
  return found;
}

function arrange(level: Level, inner: Map<number, Inner>): Inner {
  const sizes = new Map<number, [number, number]>();
  level.items.forEach((id, at) => {
    const inside = inner.get(id);
    sizes.set(id, inside ? [inside.width + 2 * PADDING, inside.height + HEAD + PADDING] : [level.sizes[2 * at], level.sizes[2 * at + 1]]);
  });
  const joined = new Set<number>(level.edges);
  const alone = level.items.filter((id) => !joined.has(id));
  const linked = level.items.filter((id) => joined.has(id));
  const isLarge = linked.length > MOST_BY_DAGRE || level.edges.length > 8 * MOST_BY_DAGRE;
  const found = !linked.length ? { width: 0, height: 0, at: new Map(), bends: new Map() } : isLarge ? layered(linked, sizes, level.edges) : byDagre(linked, sizes, level.edges);
  if (alone.length) shelve(found, alone, sizes);
  return found;
}

function byDagre(items: number[], sizes: Map<number, [number, number]>, edges: number[]): Inner {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: GAP, ranksep: LAYER, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of items) graph.setNode(String(id), { width: sizes.get(id)![0], height: sizes.get(id)![1] });
  for (let at = 0; at < edges.length; at += 2) graph.setEdge(String(edges[at]), String(edges[at + 1]), {});
  dagre.layout(graph);
  const found: Inner = { width: 0, height: 0, at: new Map(), bends: new Map() };
  for (const id of items) {
    const node = graph.node(String(id)) as { x: number; y: number };
    const [width, height] = sizes.get(id)!;
    found.at.set(id, [node.x - width / 2, node.y - height / 2]);
    found.width = Math.max(found.width, node.x + width / 2);
    found.height = Math.max(found.height, node.y + height / 2);
  }
  for (const edge of graph.edges()) {
    const points = (graph.edge(edge) as { points?: { x: number; y: number }[] }).points ?? [];
    found.bends.set(`${edge.v} ${edge.w}`, points.slice(1, -1).flatMap((point) => [point.x, point.y]));
  }
  return found;
}

/** Layers by the longest way from the top, each box near what leads to it: in time that grows with the edges alone. */
function layered(items: number[], sizes: Map<number, [number, number]>, edges: number[]): Inner {
  const before = new Map<number, number[]>(items.map((id) => [id, []]));
  const after = new Map<number, number[]>(items.map((id) => [id, []]));
  for (let at = 0; at < edges.length; at += 2) { after.get(edges[at])!.push(edges[at + 1]); before.get(edges[at + 1])!.push(edges[at]); }
  const level = new Map<number, number>();
  const waiting = new Map<number, number>(items.map((id) => [id, before.get(id)!.length]));
  let ready = items.filter((id) => !waiting.get(id));
  const rest = new Set(items);
  while (rest.size) {
    if (!ready.length) ready = [rest.values().next().value!]; // a circle is broken somewhere
    const id = ready.pop()!;
    if (!rest.delete(id)) continue;
    let own = 0;
    for (const source of before.get(id)!) if (level.has(source)) own = Math.max(own, level.get(source)! + 1);
    level.set(id, own);
    for (const target of after.get(id)!) {
      const left = waiting.get(target)! - 1;
      waiting.set(target, left);
      if (!left && rest.has(target)) ready.push(target);
    }
  }
  const layers: number[][] = [];
  for (const id of items) (layers[level.get(id)!] ??= []).push(id);
  return stacked(layers, before, sizes);
}

function stacked(layers: number[][], before: Map<number, number[]>, sizes: Map<number, [number, number]>): Inner {
  const found: Inner = { width: 0, height: 0, at: new Map(), bends: new Map() };
  const middle = new Map<number, number>();
  const widest = Math.max(2400, 60 * Math.sqrt(layers.reduce((sum, layer) => sum + layer.length, 0)));
  let top = 0;
  for (const layer of layers) {
    if (!layer) continue;
    const wanted = new Map(layer.map((id) => {
      const known = before.get(id)!.map((source) => middle.get(source)).filter((value): value is number => value !== undefined);
      return [id, known.length ? known.reduce((a, b) => a + b, 0) / known.length : 0];
    }));
    layer.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a - b);
    let row: number[] = [];
    let wide = 0;
    const rows: number[][] = [row];
    for (const id of layer) {
      const width = sizes.get(id)![0] + GAP;
      if (wide + width > widest && row.length) { row = []; rows.push(row); wide = 0; }
      row.push(id);
      wide += width;
    }
    for (const ids of rows) {
      const total = ids.reduce((sum, id) => sum + sizes.get(id)![0] + GAP, -GAP);
      const centre = ids.reduce((sum, id) => sum + wanted.get(id)!, 0) / ids.length;
      let left = centre - total / 2;
      let tall = 0;
      for (const id of ids) {
        const [width, height] = sizes.get(id)!;
        found.at.set(id, [left, top]);
        middle.set(id, left + width / 2);
        left += width + GAP;
        tall = Math.max(tall, height);
      }
      top += tall + LAYER;
    }
  }
  let least = Infinity;
  for (const [x] of found.at.values()) least = Math.min(least, x);
  for (const [id, [x, y]] of found.at) {
    found.at.set(id, [x - least, y]);
    found.width = Math.max(found.width, x - least + sizes.get(id)![0]);
  }
  found.height = Math.max(0, top - LAYER);
  return found;
}

/** Boxes without edges stand in rows below. */
function shelve(found: Inner, items: number[], sizes: Map<number, [number, number]>): void {
  const area = items.reduce((sum, id) => sum + (sizes.get(id)![0] + GAP) * (sizes.get(id)![1] + GAP), 0);
  const wide = Math.max(found.width, Math.sqrt(area * 2), 200);
  let [left, top, tall] = [0, found.height ? found.height + LAYER : 0, 0];
  for (const id of items) {
    const [width, height] = sizes.get(id)!;
    if (left && left + width > wide) { left = 0; top += tall + GAP; tall = 0; }
    found.at.set(id, [left, top]);
    left += width + GAP;
    tall = Math.max(tall, height);
    found.width = Math.max(found.width, left - GAP);
  }
  found.height = top + tall;
}

// ------------------------------------------------------------------------------------------------------------- worker

/** Whether this program runs in a worker, and not in a page. */
export const isWorker = typeof document === "undefined";

if (isWorker) {
  self.onmessage = (event: MessageEvent<{ id: number; levels: Level[] }>) => {
    try {
      (self as unknown as Worker).postMessage({ id: event.data.id, placed: place(event.data.levels) });
    } catch (error) {
      (self as unknown as Worker).postMessage({ id: event.data.id, error: String(error) });
    }
  };
}

let worker: Worker | null | undefined;
let counter = 0;
const waiting = new Map<number, { resolve: (placed: Placed) => void; reject: (error: Error) => void }>();

function opened(): Worker | null {
  if (worker !== undefined) return worker;
  try {
    const own = document.getElementById("app");
    worker = new Worker(own ? URL.createObjectURL(new Blob([own.textContent ?? ""], { type: "text/javascript" })) : "app.js");
    worker.onmessage = (event) => {
      const { id, placed, error } = event.data;
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error) asked?.reject(new Error(error));
      else asked?.resolve(placed);
    };
    worker.onerror = () => {
      worker = null;
      for (const [id, asked] of waiting) { waiting.delete(id); asked.reject(new Error("the layout ended")); }
    };
  } catch {
    worker = null;
  }
  return worker;
}

/** Lays boxes out beside the page, which can be used meanwhile; in the page where a browser has no workers. */
export async function placeBeside(levels: Level[]): Promise<Placed> {
  const beside = opened();
  if (!beside) return place(levels);
  const id = (counter += 1);
  try {
    return await new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      beside.postMessage({ id, levels });
    });
  } catch {
    return place(levels);
  }
}
