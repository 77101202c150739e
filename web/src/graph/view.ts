// The view of a graph: the drawing, what finds something in it, and what is known of the chosen node.

import { AnswerError, ask, isLive, problem, working } from "../api";
import { amount, button, calmly, Child, count, download, facts, h, notice, replace, size } from "../dom";
import { heatMap, histogram, isDark } from "../plots";
import { Place } from "../place";
import { COLOURS, KINDS } from "./kinds";
import { placeBeside } from "./layout";
import { GraphAnswer, GraphModel } from "./model";
import { Renderer } from "./renderer";

const MOST_FOUND = 200;
const FIRST_BOXES = 60;

interface Costs { outputs: string[][]; operations: (number | null)[] }
type Overlay = "kind" | "bytes" | "operations" | "difference";

export function graphView(place: Place): () => void {
  const body = h("div", { class: "fill" });
  replace(place.element, body);
  let ended = (): void => undefined;
  ask("graphs", { source: place.source.number }).then((answer) => {
    const graphs = answer.graphs as { label: string; nodes: number }[];
    const chosen = Math.min(Number(place.given.get("graph") ?? 0) || 0, graphs.length - 1);
    if (!graphs.length || !graphs[chosen].nodes) {
      replace(body, notice("empty", "The graph is empty", h("p", {}, "There are no operations in it.")));
      return;
    }
    return ask("graph", { source: place.source.number, graph: chosen }).then((graph: GraphAnswer) => {
      ended = new GraphView(place, body, graph, chosen, graphs.map((item) => item.label)).end;
    });
  }).catch((error) => replace(body, problem(error)));
  return () => ended();
}

class GraphView {
  private readonly model: GraphModel;
  private readonly canvas = h("canvas", { class: "graph", tabindex: 0, role: "application", "aria-label": "Graph. Arrow keys move between nodes that are joined, Enter opens or closes a scope, plus and minus zoom, slash searches." });
  private readonly renderer: Renderer;
  private readonly panel = h("aside", { class: "panel", "aria-label": "About the chosen node" });
  private readonly told = h("p", { class: "hidden", role: "status", "aria-live": "polite" });
  private readonly mini = h("canvas", { class: "mini", width: 180, height: 130, "aria-hidden": "true" });
  private readonly results = h("div", { class: "results", role: "listbox", "aria-label": "Found" });
  private readonly search = h("input", { type: "search", placeholder: "Search name, op or attribute", "aria-label": "Search the graph" });
  private readonly status = h("span", { class: "quiet", role: "status" });
  private readonly legend = h("div", { class: "legend" });
  private costs: Costs | null = null;
  private chosen = -1;
  private start = -1;
  private overlay: Overlay = "kind";
  private difference: { added: Set<number>; changed: Map<number, string[]> } | null = null;
  private readonly observer: ResizeObserver;
  private isEnded = false;
  private readonly pending: (() => void)[] = [];
  readonly end: () => void;

  constructor(private readonly place: Place, body: HTMLElement, graph: GraphAnswer, private readonly number: number, labels: string[]) {
    this.model = new GraphModel(graph);
    this.model.openSome(FIRST_BOXES);
    this.renderer = new Renderer(this.canvas, this.model);
    this.renderer.look.label = (source, slot) => this.costs?.outputs[source]?.[slot] ?? this.model.graph.says[source] ?? "";
    this.renderer.onview = calmly(40, () => this.renderer.miniature(this.mini));
    replace(body, this.toolbar(labels), h("div", { class: "split" }, h("div", { class: "stage" }, this.canvas, this.mini, this.results, this.legend), this.panel), this.told);
    this.observer = new ResizeObserver(() => this.renderer.resize());
    this.observer.observe(this.canvas);
    const onscheme = (): void => this.renderer.stale();
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", onscheme);
    document.addEventListener("tensorkeep-theme", onscheme);
    this.end = () => {
      this.isEnded = true;
      for (const cancel of this.pending) cancel();
      this.observer.disconnect();
      media.removeEventListener("change", onscheme);
      document.removeEventListener("tensorkeep-theme", onscheme);
    };
    this.listen();
    this.about();
    const wanted = place.given.get("node");
    const named = wanted === null ? -1 : graph.names.indexOf(wanted);
    if (named >= 0) this.model.reveal(named);
    this.renderer.resize();
    void this.arrange(true).then(() => {
      if (this.isEnded) return;
      if (named >= 0) this.choose(this.model.visible(named), true, named);
      this.loadCosts();
      this.loadDifference();
    });
    (window as unknown as { tensorkeepGraph: unknown }).tensorkeepGraph = { renderer: this.renderer, model: this.model, openAll: () => this.openAll(true) };
  }

  // ------------------------------------------------------------------------------------------------------------ tools

  private toolbar(labels: string[]): HTMLElement {
    const overlay = h("select", { "aria-label": "Colours", onchange: (event: Event) => { this.overlay = (event.target as HTMLSelectElement).value as Overlay; this.paintOverlay(); } },
      h("option", { value: "kind" }, "Colour: kind of op"), h("option", { value: "bytes" }, "Colour: parameters, in bytes"), h("option", { value: "operations" }, "Colour: operations (FLOPs)"),
      h("option", { value: "difference", disabled: true, id: "difference-option" }, "Colour: difference"));
    const which = labels.length < 2 ? null : h("select", { "aria-label": "Which graph", onchange: (event: Event) => this.place.go("graph", { graph: (event.target as HTMLSelectElement).value }) },
      labels.map((label, at) => h("option", { value: at, selected: at === this.number }, label || `graph ${at}`)));
    const entries = this.model.graph.signatures.filter((item) => [...item.inputs, ...item.outputs].some((end) => end.node !== null));
    const entry = !entries.length ? null : h("select", { "aria-label": "Entry points", onchange: (event: Event) => this.goTo(Number((event.target as HTMLSelectElement).value)) },
      h("option", { value: "" }, "Entry points"),
      entries.map((item) => h("optgroup", { label: item.name }, [...item.inputs.map((end) => [end, "takes"] as const), ...item.outputs.map((end) => [end, "gives"] as const)]
        .filter(([end]) => end.node !== null).map(([end, word]) => h("option", { value: end.node }, `${word} ${end.name}: ${end.dtype} ${end.shape}`)))));
    return h("div", { class: "toolbar" }, h("div", { class: "searching" }, this.search), which, entry, overlay,
      button("Fit", () => this.renderer.fit()), button("+", () => this.zoom(1.3), { "aria-label": "Larger" }), button("−", () => this.zoom(1 / 1.3), { "aria-label": "Smaller" }),
      button("Open all", () => this.openAll(true)), button("Close all", () => this.openAll(false)),
      button("SVG", () => download("graph.svg", new Blob([this.renderer.svg()], { type: "image/svg+xml" }))),
      button("PNG", () => this.renderer.png((blob) => blob && download("graph.png", blob))), this.status);
  }

  private zoom(factor: number): void {
    this.renderer.scale(factor, this.canvas.clientWidth / 2, this.canvas.clientHeight / 2);
  }

  private openAll(isOpen: boolean): void {
    for (const scope of this.model.scopes) scope.isOpen = isOpen;
    this.model.root.isOpen = true;
    void this.arrange(true);
  }

  private async arrange(fits: boolean, keep = -1): Promise<void> {
    const before = keep >= 0 ? this.renderer.rectangle(keep) : undefined;
    const [x, y] = before ? [before.x, before.y] : [0, 0];
    this.status.textContent = "Laying out …";
    const placed = await placeBeside(this.model.levels((id) => this.renderer.measure(id)));
    if (this.isEnded) return;
    this.renderer.show(placed);
    const after = keep >= 0 ? this.renderer.rectangle(keep) : undefined;
    if (fits) this.renderer.fit(0.72);
    else if (before && after) { this.renderer.x += after.x - x; this.renderer.y += after.y - y; }
    this.paintOverlay();
    this.highlight();
    this.status.textContent = `${count(this.model.count, "op")}, ${count(this.renderer.drawnBoxes, "box").replace("boxs", "boxes")} shown`;
    this.canvas.dataset.ready = "yes";
  }

  // ------------------------------------------------------------------------------------------------------- the pointer

  private listen(): void {
    const canvas = this.canvas;
    const pointers = new Map<number, [number, number]>();
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const [ox, oy] = others[0][1];
        const [before, after] = [Math.hypot(last[0] - ox, last[1] - oy), Math.hypot(event.offsetX - ox, event.offsetY - oy)];
        if (before > 1) this.renderer.scale(after / before, ox, oy);
      } else this.renderer.pan(event.offsetX - last[0], event.offsetY - last[1]);
      moved += Math.abs(event.offsetX - last[0]) + Math.abs(event.offsetY - last[1]);
      pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    });
    const up = (event: PointerEvent): void => {
      if (pointers.delete(event.pointerId) && moved < 5 && event.type === "pointerup") this.choose(this.renderer.at(event.offsetX, event.offsetY), false);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("dblclick", (event) => this.toggle(this.renderer.at(event.offsetX, event.offsetY)));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey || !event.shiftKey) this.renderer.scale(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
      else this.renderer.pan(-event.deltaY, 0);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    const jump = (event: PointerEvent): void => {
      if (!event.buttons) return;
      const scale = Math.min(this.mini.width / this.renderer.width, this.mini.height / this.renderer.height);
      this.renderer.x = (event.offsetX - (this.mini.width - this.renderer.width * scale) / 2) / scale - this.canvas.clientWidth / 2 / this.renderer.zoom;
      this.renderer.y = (event.offsetY - (this.mini.height - this.renderer.height * scale) / 2) / scale - this.canvas.clientHeight / 2 / this.renderer.zoom;
      this.renderer.pan(0, 0);
    };
    this.mini.addEventListener("pointerdown", jump);
    this.mini.addEventListener("pointermove", jump);
    this.search.addEventListener("input", calmly(120, () => void this.find()));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { this.search.value = ""; void this.find(); this.canvas.focus(); }
      if (event.key === "Enter" || event.key === "ArrowDown") { event.preventDefault(); (this.results.querySelector("button") as HTMLElement | null)?.focus(); }
    });
  }

  private key(event: KeyboardEvent): void {
    const model = this.model;
    const near = (lists: number[][]): number => {
      const ids = model.isScope(this.chosen) ? [] : lists[this.chosen] ?? [];
      return ids.map((id) => model.visible(id)).find((id) => id !== this.chosen) ?? -1;
    };
    const acts: Record<string, () => void> = {
      "+": () => this.zoom(1.3), "=": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), f: () => this.renderer.fit(), "/": () => this.search.focus(),
      Escape: () => this.choose(-1, false),
      Enter: () => this.toggle(this.chosen), " ": () => this.toggle(this.chosen),
      ArrowDown: () => this.step(near(model.outputs), 0, -60), ArrowUp: () => this.step(near(model.inputs), 0, 60),
      ArrowLeft: () => this.step(this.beside(-1), 60, 0), ArrowRight: () => this.step(this.beside(1), -60, 0),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  /** Goes to a node; where there is none, moves the drawing. */
  private step(id: number, dx: number, dy: number): void {
    if (this.chosen < 0 || id < 0) this.renderer.pan(dx, dy);
    else this.choose(id, true);
  }

  private beside(by: number): number {
    if (this.chosen < 0) return -1;
    const members = this.model.scopeOf(this.model.parent[this.chosen]).members;
    const at = members.indexOf(this.chosen);
    return members[at + by] ?? -1;
  }

  private toggle(id: number): void {
    if (id < 0 || !this.model.isScope(id)) return;
    const scope = this.model.scopeOf(id);
    scope.isOpen = !scope.isOpen;
    this.tell(`${scope.label} is ${scope.isOpen ? "open" : "closed"}`);
    void this.arrange(false, id).then(() => this.about());
  }

  private goTo(node: number): void {
    if (!Number.isInteger(node)) return;
    this.model.reveal(node);
    void this.arrange(false).then(() => this.choose(this.model.visible(node), true, node));
  }

  // ------------------------------------------------------------------------------------------------------------ search

  private async find(): Promise<void> {
    const text = this.search.value.trim().toLowerCase();
    if (!text) { replace(this.results); this.results.classList.remove("open"); this.renderer.look.bright = null; this.highlight(); return; }
    const names = this.model.graph.names;
    const found: number[] = [];
    for (let node = 0; node < names.length; node += 1) if (names[node].toLowerCase().includes(text) || this.model.opOf(node).toLowerCase().includes(text)) found.push(node);
    this.showFound(found, text);
    if (isLive && text.length > 1) {
      const more = await ask("graph_search", { source: this.place.source.number, graph: this.number, text }).catch(() => ({ nodes: [] }));
      if (this.search.value.trim().toLowerCase() === text) this.showFound([...new Set([...found, ...(more.nodes as number[])])], text);
    }
  }

  private showFound(found: number[], text: string): void {
    const rows = found.slice(0, MOST_FOUND).map((node) => h("button", { type: "button", role: "option", class: "result", onclick: () => { this.results.classList.remove("open"); this.goTo(node); this.canvas.focus(); } },
      h("b", {}, this.model.opOf(node)), " ", this.model.graph.names[node]));
    const more = found.length > MOST_FOUND ? h("p", { class: "quiet" }, `and ${(found.length - MOST_FOUND).toLocaleString("en")} more`) : null;
    replace(this.results, found.length ? [rows, more] : h("p", { class: "quiet" }, `Nothing is called like "${text}", nor has such an op or attribute.`));
    this.results.classList.add("open");
    this.renderer.look.bright = new Set(found.map((node) => this.model.visible(node)));
    this.renderer.stale();
    this.tell(`${count(found.length, "node")} found`);
  }

  // ------------------------------------------------------------------------------------------------------------- choice

  private choose(id: number, centres: boolean, inner = -1): void {
    this.chosen = id;
    if (centres) this.renderer.centre(id);
    this.highlight();
    this.about(inner);
    if (id >= 0) this.tell(`${this.model.isScope(id) ? "scope" : this.model.opOf(id)} ${this.model.nameOf(id)}`);
  }

  private highlight(): void {
    const look = this.renderer.look;
    look.chosen = this.chosen;
    if (this.chosen >= 0 && this.start < 0) {
      const bright = new Set([this.chosen]);
      if (!this.model.isScope(this.chosen)) {
        for (const list of [this.model.inputs, this.model.outputs]) for (const other of list[this.chosen]) bright.add(this.model.visible(other));
        look.bright = bright;
      } else look.bright = null;
    } else if (this.start >= 0 && this.chosen >= 0 && !this.model.isScope(this.chosen)) {
      const ways = this.model.between(this.start, this.chosen);
      const other = ways.size ? ways : this.model.between(this.chosen, this.start);
      look.bright = new Set([...other].map((node) => this.model.visible(node)));
    } else if (this.start < 0) look.bright = null;
    this.renderer.stale();
  }

  private tell(words: string): void { this.told.textContent = words; }

  // -------------------------------------------------------------------------------------------------------------- panel

  private about(inner = -1): void {
    const id = this.chosen;
    if (id < 0) { replace(this.panel, this.summary()); return; }
    if (this.model.isScope(id)) { replace(this.panel, this.aboutScope(id)); return; }
    this.aboutNode(inner >= 0 && inner !== id && this.model.owner[inner] === id ? inner : id);
  }

  private summary(): Child {
    const counts = new Map<string, number>();
    for (let node = 0; node < this.model.count; node += 1) counts.set(this.model.opOf(node), (counts.get(this.model.opOf(node)) ?? 0) + 1);
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 15);
    const total = this.costs?.operations.reduce((sum: number, value) => sum + (value ?? 0), 0);
    return [h("h2", {}, "Graph"), facts([["ops", this.model.count.toLocaleString("en")], ["functions", this.model.graph.functions.toLocaleString("en")],
      ["parameters and constants", size(this.model.root.bytes)], ["operations of one run", total === undefined ? "…" : total ? `${amount(total)} FLOPs` : "not known"]]),
    h("h3", {}, "Most frequent ops"), h("ul", { class: "plain" }, most.map(([op, number]) => h("li", {}, button(op, () => { this.search.value = op; void this.find(); }, { class: "link" }), ` ${number.toLocaleString("en")}`))),
    h("p", { class: "quiet" }, "Click a box to see what it is. Double-click a scope, or press Enter, to open or close it. Drag to move, turn the wheel to zoom.")];
  }

  private aboutScope(id: number): Child {
    const scope = this.model.scopeOf(id);
    const shown = scope.members.slice(0, 100);
    return [h("h2", { class: "wrap" }, scope.name || "Graph"), scope.repeats ? h("p", {}, `${scope.repeats} times the same block.`) : null,
      facts([["ops", scope.count.toLocaleString("en")], ["parameters and constants", size(scope.bytes)], ["operations", this.costs ? `${amount(this.sum(id))} FLOPs` : "…"]]),
      button(scope.isOpen ? "Close" : "Open", () => this.toggle(id), { class: "main" }),
      h("h3", {}, "In it"), h("ul", { class: "plain" }, shown.map((item) => h("li", {}, this.link(item)))), scope.members.length > 100 ? h("p", { class: "quiet" }, `and ${scope.members.length - 100} more`) : null];
  }

  private link(id: number): HTMLElement {
    return button(this.model.isScope(id) ? `${this.model.labelOf(id)}/` : `${this.model.opOf(id)} ${this.model.labelOf(id)}`, () => {
      this.model.reveal(id);
      void this.arrange(false).then(() => this.choose(this.model.visible(id), true, id));
    }, { class: "link wrap", title: this.model.nameOf(id) });
  }

  private aboutNode(node: number): void {
    const model = this.model;
    const ends = (ids: number[], slots: number[] | null): Child => h("ul", { class: "plain" }, ids.slice(0, 60).map((id, at) => h("li", {}, this.link(id), " ",
      h("span", { class: "quiet" }, slots && slots[at] < 0 ? "waits for it" : this.costs?.outputs[slots ? id : node]?.[slots ? slots[at] : 0] ?? model.graph.says[id] ?? ""))),
    ids.length > 60 ? h("li", { class: "quiet" }, `and ${ids.length - 60} more`) : null);
    const operations = this.costs?.operations[node];
    const more = h("div", {}, h("p", { class: "quiet" }, "…"));
    const isStart = this.start === node;
    const mark = model.marks.get(node);
    replace(this.panel, h("h2", { class: "wrap" }, model.opOf(node)), h("p", { class: "wrap name" }, model.graph.names[node]),
      mark ? h("p", {}, `Entry point: ${mark}`) : null,
      this.difference?.changed.get(node) ? h("div", { class: "notice info" }, h("h3", {}, "Changed"), this.difference.changed.get(node)!.map((line) => h("p", { class: "wrap" }, line))) : null,
      facts([["gives", (this.costs?.outputs[node] ?? []).join("; ") || model.graph.says[node] || "not known"], ["operations", operations === undefined ? "…" : operations === null ? "not known" : amount(operations)],
        ["holds", size(model.bytesOf(node))]]),
      h("div", { class: "buttons" }, button(isStart ? "Forget the start" : "Ways from here", () => { this.start = isStart ? -1 : node; this.highlight(); this.aboutNode(node); }),
        this.place.source.views.includes("run") && isLive ? button("Its value", () => this.place.go("run", { node: String(node), graph: String(this.number) })) : null),
      this.start >= 0 && !isStart ? h("p", {}, this.ways(node)) : isStart ? h("p", { class: "quiet" }, "Now choose another node: all ways between the two stand out.") : null,
      h("h3", {}, `Takes (${model.inputs[node].length})`), ends(model.inputs[node], model.inputSlots[node]),
      h("h3", {}, `Leads to (${model.outputs[node].length})`), ends(model.outputs[node], null), more);
    ask("node", { source: this.place.source.number, graph: this.number, node }).then((answer) => replace(more, this.details(answer))).catch((error) => {
      replace(more, error instanceof AnswerError && error.kind === "not in the page" ? h("p", { class: "quiet" }, "Attributes are shown by tensorkeep view; they are not in this page.") : problem(error));
    });
  }

  private ways(node: number): string {
    const ahead = this.model.between(this.start, node).size;
    const size_ = ahead || this.model.between(node, this.start).size;
    return size_ ? `${count(size_, "node")} on ways between ${this.model.labelOf(this.start)} and this.` : `No way leads between ${this.model.labelOf(this.start)} and this.`;
  }

  private details(answer: any): Child {
    const value = answer.value;
    return [answer.function ? facts([["in the function", answer.function], ["by the calls", answer.calls.join(" → ")]]) : null, answer.device ? facts([["device", answer.device]]) : null,
      h("h3", {}, "Attributes"), answer.attributes.length ? h("table", { class: "small" }, h("tbody", {}, answer.attributes.map(([name, text]: [string, string]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "wrap" }, text))))) : h("p", { class: "quiet" }, "none"),
      value ? [h("h3", {}, "Value"), arrayView(value)] : null];
  }

  // -------------------------------------------------------------------------------------------------- shapes and colours

  private loadCosts(): void {
    const place = h("div");
    this.pending.push(working(place, "graph_costs", { source: this.place.source.number, graph: this.number }, (answer) => {
      if (this.isEnded) return;
      this.costs = answer as Costs;
      this.paintOverlay();
      this.about();
      this.canvas.dataset.costs = "yes";
    }));
  }

  private loadDifference(): void {
    const before = this.place.given.get("before");
    if (before === null) return;
    this.pending.push(working(h("div"), "graph_difference", { source: this.place.source.number, before: Number(before), graph: this.number }, (answer) => {
      if (this.isEnded) return;
      const added = new Set<number>((answer.added as [string, string, number | null][]).map((item) => item[2]).filter((item): item is number => item !== null));
      const changed = new Map<number, string[]>();
      for (const [, texts, node] of answer.changed as [string, string[], number | null][]) if (node !== null) changed.set(node, texts);
      this.difference = { added, changed };
      this.overlay = "difference";
      const option = document.getElementById("difference-option") as HTMLOptionElement | null;
      if (option) { option.disabled = false; option.selected = true; }
      this.paintOverlay();
      this.tell(`${added.size} added, ${changed.size} changed, ${answer.removed.length} removed`);
      const removed = answer.removed as [string, string][];
      replace(this.panel, h("h2", {}, "Difference"), facts([["added", added.size], ["changed", changed.size], ["removed", removed.length], ["the same", answer.same]]),
        removed.length ? [h("h3", {}, "Removed"), h("ul", { class: "plain" }, removed.slice(0, 200).map(([name, op]) => h("li", { class: "wrap" }, `${op} ${name}`)))] : null);
    }));
  }

  private sum(id: number): number {
    const value = (node: number): number => (this.overlay === "bytes" ? this.model.bytesOf(node) : this.costs?.operations[node] ?? 0);
    if (!this.model.isScope(id)) return value(id);
    return this.model.scopeOf(id).members.reduce((total, item) => total + this.sum(item), 0);
  }

  private paintOverlay(): void {
    const look = this.renderer.look;
    const dark = isDark();
    look.tints = null;
    look.notes = null;
    replace(this.legend);
    if (this.overlay === "kind") {
      const used = new Set(this.model.kind);
      replace(this.legend, KINDS.filter((kind) => used.has(kind)).map((kind) => h("span", { class: "swatch" }, h("i", { style: { background: COLOURS[kind][dark ? 1 : 0] } }), kind)));
    } else if (this.overlay === "difference" && this.difference) {
      look.tints = new Map();
      const of = (node: number): number => (this.difference!.added.has(node) ? 2 : this.difference!.changed.has(node) ? 1 : 0);
      const worst = (id: number): number => (this.model.isScope(id) ? Math.max(0, ...this.model.scopeOf(id).members.map(worst)) : of(id));
      this.each((id) => { const level = worst(id); if (level) look.tints!.set(id, level === 2 ? "#8ce99a" : "#ffd43b"); });
      replace(this.legend, h("span", { class: "swatch" }, h("i", { style: { background: "#8ce99a" } }), "added"), h("span", { class: "swatch" }, h("i", { style: { background: "#ffd43b" } }), "changed"));
    } else {
      look.tints = new Map();
      look.notes = new Map();
      const values = new Map<number, number>();
      this.each((id) => values.set(id, this.sum(id)));
      const most = Math.max(1, ...values.values());
      for (const [id, value] of values) {
        const part = value > 0 ? Math.max(0.08, Math.log1p(value) / Math.log1p(most)) : 0;
        look.tints.set(id, part ? `hsl(${Math.round(52 - 40 * part)} 90% ${Math.round(88 - 32 * part)}%)` : "#dfe3e8");
        if (value) look.notes.set(id, this.overlay === "bytes" ? size(value) : `${amount(value)} FLOPs`);
      }
      replace(this.legend, `from 0 to ${this.overlay === "bytes" ? size(most) : `${amount(most)} FLOPs`}; a scope counts all that is in it`);
    }
    this.renderer.stale();
  }

  /** Calls a function for each box that is drawn closed. */
  private each(act: (id: number) => void): void {
    for (let id = 0; id < this.model.count + this.model.scopes.length; id += 1) {
      if (this.renderer.has(id) && !(this.model.isScope(id) && this.model.scopeOf(id).isOpen)) act(id);
    }
  }
}

/** An array that was computed, or is a constant. */
export function arrayView(value: any): HTMLElement {
  const values = value.values as unknown[];
  const stats = value.statistics;
  return h("div", {}, h("p", {}, `${value.dtype} [${value.shape.join(", ")}]`),
    stats ? facts([["from", stats.minimum], ["to", stats.maximum], ["mean", stats.mean], ["NaN", stats.nans], ["infinite", stats.infinities]].map(([name, item]) => [String(name), typeof item === "number" ? Number(item.toPrecision(6)) : String(item ?? "")])) : null,
    values.length > 1 && values.length <= 64 && !value.is_cut && stats ? bars(values) : stats?.histogram && stats.count > 1 ? histogram(stats.histogram, "numbers") : null,
    value.map ? heatMap(value.map.rows, value.map.columns, value.map.values, "first plane", (row, column) => `[${row}, ${column}]`) : null,
    h("details", {}, h("summary", {}, "Values"), h("pre", { class: "wrap" }, values.slice(0, 400).map((item) => (typeof item === "number" ? String(Number(item.toPrecision(7))) : JSON.stringify(item))).join(", "), value.is_cut || values.length > 400 ? " …" : "")));
}

function bars(values: unknown[]): HTMLElement {
  const numbers = values.map((item) => (typeof item === "number" ? item : 0));
  const most = Math.max(1e-30, ...numbers.map(Math.abs));
  return h("div", { class: "bars", role: "img", "aria-label": "values as bars" }, numbers.map((value, at) => h("span", { title: `${at}: ${value}`, style: { height: `${Math.max(2, (60 * Math.abs(value)) / most)}px` }, class: value < 0 ? "minus" : "" })));
}
