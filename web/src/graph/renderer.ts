// Draws boxes and lines on a canvas. What lies still is drawn once, with a margin around it, and moved while one pans.

import { isDark } from "../plots";
import { size } from "../dom";
import { COLOURS } from "./kinds";
import { GraphModel } from "./model";
import { Placed } from "./layout";

export interface Look {
  chosen: number;
  /** Boxes that stand out; all others are pale, if there are some. */
  bright: Set<number> | null;
  /** By box, a colour in the place of its own. */
  tints: Map<number, string> | null;
  /** By box, more text below its name. */
  notes: Map<number, string> | null;
  /** The type and shape that go over an edge. */
  label: (source: number, slot: number) => string;
}

interface Drawn { id: number; x: number; y: number; w: number; h: number; isOpen: boolean; depth: number; title: string; lines: string[] }
interface Line { from: number; to: number; points: Float32Array; tensors: number; isControl: boolean; source: number; slot: number; box: [number, number, number, number] }

const FONT = "12px system-ui, sans-serif";
const SMALL = "10px system-ui, sans-serif";
const MARGIN = 0.5;

export class Renderer {
  private boxes: Drawn[] = [];
  private lines: Line[] = [];
  private byId = new Map<number, Drawn>();
  width = 1;
  height = 1;
  x = 0;
  y = 0;
  zoom = 1;
  look: Look = { chosen: -1, bright: null, tints: null, notes: null, label: () => "" };
  private readonly context: CanvasRenderingContext2D;
  private readonly cache = document.createElement("canvas");
  private cached: { x: number; y: number; zoom: number } | null = null;
  private pending = 0;
  private settling = 0;
  onview: () => void = () => undefined;
  /** How long the last full drawing took, in milliseconds. */
  lastDraw = 0;

  constructor(readonly canvas: HTMLCanvasElement, private readonly model: GraphModel) {
    this.context = canvas.getContext("2d", { alpha: false })!;
  }

  /** How large a box of a node or of a closed scope is. */
  measure(id: number): [number, number] {
    const [title, lines] = this.texts(id);
    const longest = Math.max(title.length * 6.7, ...lines.map((line) => line.length * 5.6));
    return [Math.min(260, Math.max(60, longest + 20)), 24 + 13 * lines.length];
  }

  private texts(id: number): [string, string[]] {
    const model = this.model;
    if (model.isScope(id)) {
      const scope = model.scopeOf(id);
      const kind = scope.repeats ? `${scope.repeats} times the same` : `${scope.count.toLocaleString("en")} ops`;
      return [cut(scope.label, 36), [`${kind}${scope.bytes ? `, ${size(scope.bytes)}` : ""}`]];
    }
    const op = model.opOf(id);
    const label = model.labelOf(id);
    const lines = label === op ? [] : [cut(label, 40)];
    const mark = model.marks.get(id);
    if (mark) lines.push(cut(mark, 40));
    const held = model.held.get(id) ?? [];
    const own = held.filter((item) => model.graph.says[item]);
    for (const item of own.slice(0, 3)) lines.push(cut(`▪ ${model.graph.says[item]}${model.graph.bytes[item] ? ` ${size(model.graph.bytes[item])}` : ""}`, 44));
    if (own.length > 3) lines.push(`▪ and ${own.length - 3} more`);
    if (!held.includes(id) && model.graph.says[id]) lines.push(cut(`${model.graph.says[id]}${model.graph.bytes[id] ? ` ${size(model.graph.bytes[id])}` : ""}`, 44));
    return [cut(op, 36), lines];
  }

  /** Takes what is to be drawn. */
  show(placed: Placed): void {
    const model = this.model;
    this.boxes = [];
    this.byId.clear();
    for (const [id, [x, y, w, h]] of placed.boxes) {
      const isOpen = model.isScope(id) && model.scopeOf(id).isOpen;
      const [title, lines] = isOpen ? [model.scopeOf(id).label, []] : this.texts(id);
      const drawn = { id, x, y, w, h, isOpen, depth: model.depth[id], title, lines };
      this.boxes.push(drawn);
      this.byId.set(id, drawn);
    }
    this.boxes.sort((a, b) => (a.isOpen === b.isOpen ? a.depth - b.depth : a.isOpen ? -1 : 1));
    this.lines = [...model.routes().values()].map((route) => this.route(route, placed)).filter((line): line is Line => line !== null);
    this.width = Math.max(1, placed.width);
    this.height = Math.max(1, placed.height);
    this.stale();
  }

  /** The way of an edge: out of all scopes around its beginning, by the bends between these, into those of its end. */
  private route(route: { from: number; to: number; tensors: number; isControl: boolean; source: number; slot: number }, placed: Placed): Line | null {
    const up = this.chain(route.from);
    const down = this.chain(route.to);
    while (up.length && down.length && up[up.length - 1] === down[down.length - 1]) { up.pop(); down.pop(); }
    if (!up.length || !down.length) return null;
    const points: number[] = [];
    for (const id of up) { const box = this.byId.get(id); if (box) points.push(box.x + box.w / 2, box.y + box.h); }
    points.push(...(placed.bends.get(`${up[up.length - 1]} ${down[down.length - 1]}`) ?? []));
    for (const id of down.reverse()) { const box = this.byId.get(id); if (box) points.push(box.x + box.w / 2, box.y); }
    const [xs, ys] = [points.filter((_, at) => at % 2 === 0), points.filter((_, at) => at % 2 === 1)];
    return { ...route, points: Float32Array.from(points), box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] };
  }

  private chain(id: number): number[] {
    const found: number[] = [];
    for (let at = id; at >= 0; at = this.model.parent[at]) found.push(at);
    found.pop(); // all of the graph
    return found;
  }

  // --------------------------------------------------------------------------------------------------------- the view

  resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    if (!box.width || !box.height) return;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.stale();
  }

  private get ratio(): number { return this.canvas.width / (this.canvas.clientWidth || 1); }

  fit(least = 0): void {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const whole = Math.min(1.25, (width - 24) / this.width, (height - 24) / this.height);
    this.zoom = Math.max(0.01, whole, least);
    this.x = this.width / 2 - width / 2 / this.zoom;
    this.y = whole >= least ? this.height / 2 - height / 2 / this.zoom : -12 / this.zoom;
    if (whole < least && this.boxes.length) {
      const first = this.boxes.filter((box) => !box.isOpen).reduce((a, b) => (b.y < a.y ? b : a));
      this.x = first.x + first.w / 2 - width / 2 / this.zoom;
    }
    this.stale();
  }

  pan(dx: number, dy: number): void {
    this.x -= dx / this.zoom;
    this.y -= dy / this.zoom;
    this.keep();
    this.ask();
  }

  scale(factor: number, px: number, py: number): void {
    const before = this.zoom;
    this.zoom = Math.max(0.01, Math.min(4, this.zoom * factor));
    this.x += px / before - px / this.zoom;
    this.y += py / before - py / this.zoom;
    this.keep();
    this.ask();
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => this.stale(), 90);
  }

  /** The graph never leaves the window altogether. */
  private keep(): void {
    const [width, height] = [this.canvas.clientWidth / this.zoom, this.canvas.clientHeight / this.zoom];
    this.x = Math.max(-width * 0.8, Math.min(this.width - width * 0.2, this.x));
    this.y = Math.max(-height * 0.8, Math.min(this.height - height * 0.2, this.y));
  }

  /** Brings a box into the middle. */
  centre(id: number): void {
    const box = this.byId.get(id);
    if (!box) return;
    this.zoom = Math.max(this.zoom, 0.6);
    this.x = box.x + Math.min(box.w, this.canvas.clientWidth / this.zoom) / 2 - this.canvas.clientWidth / 2 / this.zoom;
    this.y = box.y + Math.min(box.h, this.canvas.clientHeight / this.zoom) / 2 - this.canvas.clientHeight / 2 / this.zoom;
    this.stale();
  }

  /** The box under a point of the canvas; -1 if there is none. */
  at(px: number, py: number): number {
    const [x, y] = [px / this.zoom + this.x, py / this.zoom + this.y];
    for (let at = this.boxes.length - 1; at >= 0; at -= 1) {
      const box = this.boxes[at];
      if (x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + (box.isOpen ? 24 : box.h)) return box.id;
    }
    return -1;
  }

  has(id: number): boolean { return this.byId.has(id); }
  get drawnBoxes(): number { return this.boxes.length; }
  get drawnLines(): number { return this.lines.length; }
  rectangle(id: number): Drawn | undefined { return this.byId.get(id); }

  /** Everything is drawn anew. */
  stale(): void {
    this.cached = null;
    this.ask();
  }

  private ask(): void {
    if (!this.pending) this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  }

  /** Draws what is in sight: out of the cache if that has it. */
  draw(): void {
    if (!this.canvas.width) return;
    const { context, canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const known = this.cached;
    const isInside = known && this.x >= known.x - (MARGIN * width) / known.zoom && this.y >= known.y - (MARGIN * height) / known.zoom &&
      this.x + width / this.zoom <= known.x + ((1 + MARGIN) * width) / known.zoom && this.y + height / this.zoom <= known.y + ((1 + MARGIN) * height) / known.zoom;
    if (!known || (known.zoom === this.zoom && !isInside)) this.fill(width, height);
    const from = this.cached!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = isDark() ? "#12161d" : "#fbfcfe";
    context.fillRect(0, 0, canvas.width, canvas.height);
    const scale = this.zoom / from.zoom;
    const left = (from.x - this.x) * this.zoom - MARGIN * width * scale;
    const top = (from.y - this.y) * this.zoom - MARGIN * height * scale;
    context.drawImage(this.cache, left * this.ratio, top * this.ratio, this.cache.width * scale, this.cache.height * scale);
    this.onview();
  }

  private fill(width: number, height: number): void {
    const start = performance.now();
    const ratio = this.ratio;
    const full = 1 + 2 * MARGIN;
    this.cache.width = Math.round(width * full * ratio);
    this.cache.height = Math.round(height * full * ratio);
    const context = this.cache.getContext("2d", { alpha: false })!;
    context.fillStyle = isDark() ? "#12161d" : "#fbfcfe";
    context.fillRect(0, 0, this.cache.width, this.cache.height);
    const [left, top] = [this.x - (MARGIN * width) / this.zoom, this.y - (MARGIN * height) / this.zoom];
    context.setTransform(this.zoom * ratio, 0, 0, this.zoom * ratio, -left * this.zoom * ratio, -top * this.zoom * ratio);
    this.paint(context, left, top, left + (full * width) / this.zoom, top + (full * height) / this.zoom, this.zoom);
    this.cached = { x: this.x, y: this.y, zoom: this.zoom };
    this.lastDraw = performance.now() - start;
  }

  /** Draws a part of the graph, with as much detail as can be seen. */
  paint(context: CanvasRenderingContext2D, left: number, top: number, right: number, bottom: number, zoom: number): void {
    const dark = isDark();
    for (const box of this.boxes) if (box.isOpen && inSight(box, left, top, right, bottom)) this.paintScope(context, box, dark, zoom);
    this.paintLines(context, left, top, right, bottom, zoom, dark);
    for (const box of this.boxes) if (!box.isOpen && inSight(box, left, top, right, bottom)) this.paintBox(context, box, dark, zoom);
    if (zoom >= 0.7) this.paintLabels(context, left, top, right, bottom, dark);
  }

  private isPale(id: number): boolean { return this.look.bright !== null && !this.look.bright.has(id); }

  private paintScope(context: CanvasRenderingContext2D, box: Drawn, dark: boolean, zoom: number): void {
    context.fillStyle = dark ? (box.depth % 2 ? "#1a212b" : "#1f2733") : box.depth % 2 ? "#f1f4f9" : "#f8fafd";
    context.strokeStyle = this.look.chosen === box.id ? "#e8590c" : dark ? "#465366" : "#b8c3d3";
    context.lineWidth = this.look.chosen === box.id ? 3 : 1;
    rounded(context, box, 8, zoom);
    context.fill();
    context.stroke();
    if (zoom < 0.3) return;
    context.fillStyle = dark ? "#c4d0e0" : "#3d4a5c";
    context.font = `600 ${FONT}`;
    context.textAlign = "left";
    context.fillText(fitted(context, `▾ ${box.title}`, box.w - 16), box.x + 8, box.y + 17);
  }

  private paintBox(context: CanvasRenderingContext2D, box: Drawn, dark: boolean, zoom: number): void {
    const isScope = this.model.isScope(box.id);
    const tint = this.look.tints?.get(box.id);
    const kind = isScope ? null : this.model.kind[box.id];
    context.globalAlpha = this.isPale(box.id) ? 0.25 : 1;
    context.fillStyle = tint ?? (kind ? COLOURS[kind][dark ? 1 : 0] : dark ? "#2b3647" : "#ffffff");
    const isChosen = this.look.chosen === box.id;
    if (zoom < 0.2) {
      context.fillRect(box.x, box.y, box.w, box.h);
      if (isChosen) { context.strokeStyle = "#e8590c"; context.lineWidth = 3 / zoom; context.strokeRect(box.x, box.y, box.w, box.h); }
      else if (isScope) { context.strokeStyle = dark ? "#8fa3bf" : "#6b7a90"; context.lineWidth = 1; context.strokeRect(box.x, box.y, box.w, box.h); }
      context.globalAlpha = 1;
      return;
    }
    context.strokeStyle = isChosen ? "#e8590c" : this.model.marks.has(box.id) ? "#0c8599" : dark ? "#7488a3" : "#7a8699";
    context.lineWidth = isChosen ? 3 : this.model.marks.has(box.id) ? 2 : 1;
    rounded(context, box, isScope ? 8 : 5, zoom);
    context.fill();
    context.stroke();
    if (isScope && this.model.scopeOf(box.id).repeats) { context.strokeRect(box.x + 4, box.y + box.h + 2, box.w - 8, 0.5); }
    if (zoom >= 0.3) this.paintText(context, box, dark, isScope, tint);
    context.globalAlpha = 1;
  }

  private paintText(context: CanvasRenderingContext2D, box: Drawn, dark: boolean, isScope: boolean, tint: string | undefined): void {
    context.fillStyle = tint ? "#10151c" : dark ? "#edf2f9" : "#17202e";
    context.textAlign = "center";
    context.font = `${isScope ? "600 " : ""}${FONT}`;
    const note = this.look.notes?.get(box.id);
    context.fillText(fitted(context, isScope ? `▸ ${box.title}` : box.title, box.w - 10), box.x + box.w / 2, box.y + 16);
    context.font = SMALL;
    context.fillStyle = tint ? "#232b36" : dark ? "#b6c2d3" : "#46535f";
    const lines = note && box.lines.length ? [note, ...box.lines.slice(1)] : box.lines;
    lines.forEach((line, at) => context.fillText(fitted(context, line, box.w - 8), box.x + box.w / 2, box.y + 30 + 13 * at));
  }

  private paintLines(context: CanvasRenderingContext2D, left: number, top: number, right: number, bottom: number, zoom: number, dark: boolean): void {
    const plain = dark ? "#64748b" : "#94a0b3";
    const draw = (wanted: (line: Line) => boolean, style: string, width: number, dash: number[]): void => {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.setLineDash(dash);
      context.beginPath();
      for (const line of this.lines) {
        if (line.box[2] < left || line.box[0] > right || line.box[3] < top || line.box[1] > bottom || !wanted(line)) continue;
        trace(context, line.points, zoom);
        if (zoom >= 0.3) arrow(context, line.points);
      }
      context.stroke();
      context.setLineDash([]);
    };
    const bright = this.look.bright;
    const isBright = (line: Line): boolean => bright === null || (bright.has(line.from) && bright.has(line.to));
    if (bright) { context.globalAlpha = 0.15; draw((line) => !isBright(line), plain, 1, []); context.globalAlpha = 1; }
    const thin = zoom < 0.2 ? 1 / zoom / 2 : 1.2;
    draw((line) => isBright(line) && !line.isControl && line.tensors === 1, bright ? "#e8590c" : plain, thin, []);
    draw((line) => isBright(line) && !line.isControl && line.tensors > 1, bright ? "#e8590c" : plain, thin * 2, []);
    draw((line) => isBright(line) && line.isControl, plain, thin * 0.8, [4, 4]);
  }

  private paintLabels(context: CanvasRenderingContext2D, left: number, top: number, right: number, bottom: number, dark: boolean): void {
    context.font = SMALL;
    context.textAlign = "center";
    for (const line of this.lines) {
      if (line.isControl || line.box[2] < left || line.box[0] > right || line.box[3] < top || line.box[1] > bottom) continue;
      if (this.look.bright && !(this.look.bright.has(line.from) && this.look.bright.has(line.to))) continue;
      const text = line.tensors > 1 ? `${line.tensors} tensors` : this.look.label(line.source, line.slot);
      if (!text) continue;
      const at = line.points[3] - line.points[1] > 24 ? 0 : 2 * Math.floor((line.points.length / 2 - 1) / 2);
      const [x, y] = [(line.points[at] + line.points[at + 2]) / 2, (line.points[at + 1] + line.points[at + 3]) / 2];
      const width = context.measureText(text).width + 6;
      context.fillStyle = dark ? "#12161dd9" : "#fbfcfed9";
      context.fillRect(x - width / 2, y - 7, width, 13);
      context.fillStyle = dark ? "#9fb0c6" : "#56637a";
      context.fillText(text, x, y + 3);
    }
  }

  // --------------------------------------------------------------------------------------------------- small, and files

  /** Draws all of it small, with a frame around what is in sight. */
  miniature(canvas: HTMLCanvasElement): void {
    const context = canvas.getContext("2d")!;
    const scale = Math.min(canvas.width / this.width, canvas.height / this.height);
    const dark = isDark();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = dark ? "#1a212b" : "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale, 0, 0, scale, (canvas.width - this.width * scale) / 2, (canvas.height - this.height * scale) / 2);
    for (const box of this.boxes) {
      context.fillStyle = box.isOpen ? (dark ? "#2b364766" : "#dfe6f066") : this.look.tints?.get(box.id) ?? (dark ? "#8fa3bf" : "#8a99ae");
      context.fillRect(box.x, box.y, Math.max(box.w, 1 / scale), Math.max(box.h, 1 / scale));
    }
    context.strokeStyle = "#e8590c";
    context.lineWidth = 2 / scale;
    context.strokeRect(this.x, this.y, this.canvas.clientWidth / this.zoom, this.canvas.clientHeight / this.zoom);
  }

  png(done: (blob: Blob | null) => void): void {
    const scale = Math.min(2, 8000 / Math.max(this.width, this.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(this.width * scale);
    canvas.height = Math.ceil(this.height * scale);
    const context = canvas.getContext("2d", { alpha: false })!;
    context.fillStyle = isDark() ? "#12161d" : "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.scale(scale, scale);
    this.paint(context, 0, 0, this.width, this.height, Math.max(scale, 0.3));
    canvas.toBlob(done, "image/png");
  }

  svg(): string {
    const dark = isDark();
    const parts: string[] = [];
    const text = (x: number, y: number, words: string, at: string, large: boolean, bold = false): string =>
      `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${at}" font-size="${large ? 12 : 10}"${bold ? ' font-weight="600"' : ""} fill="${dark ? "#edf2f9" : "#17202e"}">${escaped(words)}</text>`;
    const frame = (box: Drawn, fill: string, radius: number): string =>
      `<rect x="${box.x.toFixed(1)}" y="${box.y.toFixed(1)}" width="${box.w.toFixed(1)}" height="${box.h.toFixed(1)}" rx="${radius}" fill="${fill}" stroke="${dark ? "#7488a3" : "#7a8699"}"/>`;
    for (const box of this.boxes) if (box.isOpen) parts.push(frame(box, dark ? "#1f2733" : "#f4f7fb", 8), text(box.x + 8, box.y + 17, box.title, "start", true, true));
    for (const line of this.lines) {
      const points = Array.from(line.points, (value) => value.toFixed(1));
      parts.push(`<polyline fill="none" stroke="${dark ? "#64748b" : "#94a0b3"}" points="${points.join(" ")}"${line.isControl ? ' stroke-dasharray="4 4"' : ""}/>`);
    }
    for (const box of this.boxes) {
      if (box.isOpen) continue;
      const isScope = this.model.isScope(box.id);
      const fill = this.look.tints?.get(box.id) ?? (isScope ? (dark ? "#2b3647" : "#ffffff") : COLOURS[this.model.kind[box.id]][dark ? 1 : 0]);
      parts.push(`<g><title>${escaped(this.model.nameOf(box.id))}</title>${frame(box, fill, isScope ? 8 : 5)}${text(box.x + box.w / 2, box.y + 16, box.title, "middle", true, isScope)}`);
      box.lines.forEach((line, at) => parts.push(text(box.x + box.w / 2, box.y + 30 + 13 * at, line, "middle", false)));
      parts.push("</g>");
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(this.width)} ${Math.ceil(this.height)}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${dark ? "#12161d" : "#ffffff"}"/>${parts.join("")}</svg>`;
  }
}

function escaped(words: string): string {
  return words.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, "\ufffd").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2 - 1)}…${text.slice(-most / 2)}`;
}

function inSight(box: Drawn, left: number, top: number, right: number, bottom: number): boolean {
  return box.x <= right && box.x + box.w >= left && box.y <= bottom && box.y + box.h + 4 >= top;
}

function rounded(context: CanvasRenderingContext2D, box: Drawn, radius: number, zoom: number): void {
  context.beginPath();
  if (zoom < 0.35) context.rect(box.x, box.y, box.w, box.h);
  else context.roundRect(box.x, box.y, box.w, box.h, radius);
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (text.length * 4 < width || context.measureText(text).width <= width) return text;
  let most = Math.max(4, Math.floor((text.length * width) / context.measureText(text).width) - 1);
  most -= most % 2;
  return cut(text, most);
}

function trace(context: CanvasRenderingContext2D, points: Float32Array, zoom: number): void {
  const last = points.length - 2;
  context.moveTo(points[0], points[1]);
  if (zoom < 0.3) {
    for (let at = 2; at <= last; at += 2) context.lineTo(points[at], points[at + 1]);
    return;
  }
  if (last === 2) {
    const middle = (points[1] + points[3]) / 2;
    context.bezierCurveTo(points[0], middle, points[2], middle, points[2], points[3]);
    return;
  }
  for (let at = 2; at < last; at += 2) context.quadraticCurveTo(points[at], points[at + 1], (points[at] + points[at + 2]) / 2, (points[at + 1] + points[at + 3]) / 2);
  context.lineTo(points[last], points[last + 1]);
}

function arrow(context: CanvasRenderingContext2D, points: Float32Array): void {
  const [x, y] = [points[points.length - 2], points[points.length - 1]];
  context.moveTo(x - 3, y - 6);
  context.lineTo(x, y);
  context.lineTo(x + 3, y - 6);
}
