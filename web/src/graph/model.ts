// A graph as it is looked at: scopes that are open or closed, constants inside what uses them, repeated blocks folded.

import { Kind, kindOf } from "./kinds";

/** A graph as the server tells it. */
export interface GraphAnswer {
  label: string;
  names: string[];
  ops: string[];
  op: number[];
  edges: number[];
  says: Record<string, string>;
  bytes: Record<string, number>;
  signatures: { name: string; inputs: End[]; outputs: End[] }[];
  functions: number;
}
export interface End { name: string; tensor: string; dtype: string; shape: string; node: number | null }

/** A scope, or a series of scopes that are alike. Nodes and scopes share numbers: scopes come after all nodes. */
export interface Scope {
  id: number;
  name: string;
  label: string;
  members: number[];
  /** All nodes in it, at any depth. */
  count: number;
  bytes: number;
  isOpen: boolean;
  /** How many scopes that are alike it stands for; 0 for a scope. */
  repeats: number;
  hash: string;
}

export interface Box { id: number; x: number; y: number; width: number; height: number; depth: number }
/** An edge that is drawn: from box to box, over some points, for so many tensors. */
export interface Route { from: number; to: number; points: number[]; tensors: number; isControl: boolean; slot: number; source: number }
export interface Level { scope: number; items: number[]; sizes: number[]; edges: number[] }

const INSIDE = new Set(["Const", "VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "KvVarHandleOp"]);
const DEEPEST = 64;
const FEWEST_ALIKE = 3;
const FEWEST_SHOWN = 12; // boxes of a first look

export class GraphModel {
  readonly count: number;
  readonly scopes: Scope[] = [];
  /** By number of a node or scope, the number of the scope that it is in. */
  readonly parent: number[] = [];
  readonly depth: number[] = [];
  readonly kind: Kind[];
  readonly inputs: number[][];
  readonly inputSlots: number[][];
  readonly outputs: number[][];
  /** By node, the node that it is drawn in; -1 for one that is drawn itself. */
  owner: Int32Array;
  /** By node, what is drawn in it. */
  readonly held = new Map<number, number[]>();
  readonly marks = new Map<number, string>();
  readonly root: Scope;
  private readonly byName = new Map<string, Scope>();
  /** Of nodes that stand outside of their scopes, as they are alone in these, the name of the scope that they are in. */
  private readonly homes = new Map<number, string>();

  constructor(readonly graph: GraphAnswer) {
    this.count = graph.names.length;
    this.kind = graph.op.map((op) => kindOf(graph.ops[op]));
    this.inputs = Array.from({ length: this.count }, () => []);
    this.inputSlots = Array.from({ length: this.count }, () => []);
    this.outputs = Array.from({ length: this.count }, () => []);
    for (let at = 0; at < graph.edges.length; at += 3) {
      const [source, target, slot] = [graph.edges[at], graph.edges[at + 1], graph.edges[at + 2]];
      this.inputs[target].push(source);
      this.inputSlots[target].push(slot);
      this.outputs[source].push(target);
    }
    this.owner = this.owners();
    this.root = this.scope("", "", -1);
    this.root.isOpen = true;
    this.build();
    this.thin(this.root);
    this.fold(this.root);
    this.settle(this.root, 0);
    for (const signature of graph.signatures) {
      for (const end of signature.inputs) if (end.node !== null) this.marks.set(end.node, `takes ${end.name}`);
      for (const end of signature.outputs) if (end.node !== null) this.marks.set(end.node, `gives ${end.name}`);
    }
  }

  opOf(node: number): string { return this.graph.ops[this.graph.op[node]]; }
  isScope(id: number): boolean { return id >= this.count; }
  scopeOf(id: number): Scope { return this.scopes[id - this.count]; }
  nameOf(id: number): string { return this.isScope(id) ? this.scopeOf(id).name : this.graph.names[id]; }
  labelOf(id: number): string {
    if (this.isScope(id)) return this.scopeOf(id).label;
    const name = this.graph.names[id];
    const home = this.homes.get(id);
    return (home !== undefined ? name.slice(home.length).replace(/^\//, "") : name.slice(name.lastIndexOf("/") + 1)) || name;
  }

  /** Constants and variables that one node alone uses are drawn in it. */
  private owners(): Int32Array {
    const owner = new Int32Array(this.count).fill(-1);
    const ends = new Set<number>();
    for (const signature of this.graph.signatures) for (const end of [...signature.inputs, ...signature.outputs]) if (end.node !== null) ends.add(end.node);
    for (let node = 0; node < this.count; node += 1) {
      const users = new Set(this.outputs[node]);
      if (!INSIDE.has(this.opOf(node)) || users.size !== 1 || ends.has(node)) continue;
      const isRead = this.opOf(node) === "ReadVariableOp";
      if (isRead && this.inputs[node].some((input) => !INSIDE.has(this.opOf(input)) || new Set(this.outputs[input]).size !== 1)) continue;
      const [user] = users;
      if (user !== node) owner[node] = user;
    }
    for (let node = 0; node < this.count; node += 1) {
      if (owner[node] < 0) continue;
      let last = owner[node];
      for (let steps = 0; owner[last] >= 0 && steps < 8; steps += 1) last = owner[last];
      owner[node] = last;
      this.held.set(last, [...(this.held.get(last) ?? []), node]);
    }
    return owner;
  }

  private scope(name: string, label: string, parent: number): Scope {
    const made: Scope = { id: this.count + this.scopes.length, name, label, members: [], count: 0, bytes: 0, isOpen: false, repeats: 0, hash: "" };
    this.scopes.push(made);
    this.parent[made.id] = parent;
    this.byName.set(name, made);
    return made;
  }

  private build(): void {
    const names = this.graph.names;
    const scopesOf = (name: string): Scope => {
      let scope = this.root;
      let end = name.indexOf("/");
      for (let depth = 0; end >= 0 && depth < DEEPEST; depth += 1) {
        const path = name.slice(0, end);
        let next = this.byName.get(path);
        if (!next) {
          next = this.scope(path, path.slice(path.lastIndexOf("/") + 1) || path, scope.id);
          scope.members.push(next.id);
        }
        scope = next;
        end = name.indexOf("/", end + 1);
      }
      return scope;
    };
    names.forEach((name) => scopesOf(name));
    names.forEach((name, node) => {
      // A node that is called like a scope stands in it: a loop beside its body.
      const scope = (name && this.byName.get(name)) || scopesOf(name);
      this.parent[node] = scope.id;
      if (this.owner[node] < 0) scope.members.push(node);
    });
  }

  /** Scopes in which nothing is drawn go away, and what is alone in a scope stands in the place of the scope. */
  private thin(scope: Scope): void {
    scope.members = scope.members.flatMap((id) => {
      if (!this.isScope(id)) return [id];
      const inner = this.scopeOf(id);
      this.thin(inner);
      if (inner.members.length > 1) return [id];
      for (const only of inner.members) {
        this.parent[only] = scope.id;
        if (this.isScope(only)) this.scopeOf(only).label = `${inner.label}/${this.scopeOf(only).label}`;
        else this.homes.set(only, scope.name);
      }
      return inner.members;
    });
  }

  /** Scopes beside each other that are made alike become one box. */
  private fold(scope: Scope): void {
    for (const id of scope.members) if (this.isScope(id)) this.fold(this.scopeOf(id));
    scope.hash = this.hashOf(scope);
    const alike = new Map<string, number[]>();
    for (const id of scope.members) {
      if (!this.isScope(id)) continue;
      const item = this.scopeOf(id);
      if (item.members.length < 2 && item.hash.length < 40) continue;
      alike.set(item.hash, [...(alike.get(item.hash) ?? []), id]);
    }
    for (const ids of alike.values()) {
      if (ids.length < FEWEST_ALIKE || ids.length === scope.members.length) continue;
      const [first, last] = [this.scopeOf(ids[0]), this.scopeOf(ids[ids.length - 1])];
      const group = this.scope(`${scope.name}${scope.name ? "/" : ""}${first.label} … ${last.label}`, `${first.label} … ${last.label}`, scope.id);
      group.repeats = ids.length;
      group.members = ids;
      const taken = new Set(ids);
      scope.members = [...scope.members.filter((id) => !taken.has(id)), group.id];
      for (const id of ids) this.parent[id] = group.id;
    }
  }

  private hashOf(scope: Scope): string {
    const parts = scope.members.map((id) => (this.isScope(id) ? `${this.plain(id)}{${this.scopeOf(id).hash}}` : `${this.plain(id)}:${this.opOf(id)}`));
    const text = parts.sort().join(";");
    if (text.length < 200) return text;
    let [a, b] = [0x811c9dc5, 0x9e3779b9];
    for (let at = 0; at < text.length; at += 1) {
      a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
      b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b) ^ (b >>> 13);
    }
    return `${parts.length}#${(a >>> 0).toString(36)}#${(b >>> 0).toString(36)}#${text.length}########################`;
  }

  private plain(id: number): string { return this.labelOf(id).replace(/\d+/g, "#"); }

  private settle(scope: Scope, depth: number): void {
    this.depth[scope.id] = depth;
    scope.count = 0;
    scope.bytes = 0;
    for (const id of scope.members) {
      if (this.isScope(id)) {
        const inner = this.scopeOf(id);
        this.settle(inner, depth + 1);
        scope.count += inner.count;
        scope.bytes += inner.bytes;
      } else {
        this.depth[id] = depth + 1;
        const held = this.held.get(id) ?? [];
        for (const item of held) this.depth[item] = depth + 1;
        scope.count += 1 + held.length;
        scope.bytes += this.bytesOf(id);
      }
    }
  }

  /** The bytes of what a node holds: constants and variables. */
  bytesOf(node: number): number {
    let total = this.graph.bytes[node] ?? 0;
    for (const item of this.held.get(node) ?? []) total += this.graph.bytes[item] ?? 0;
    return total;
  }

  /** Opens scopes as long as few boxes come of it, so that a first look shows something. */
  openSome(most: number): void {
    let shown = this.root.members.length;
    let waiting = this.root.members.filter((id) => this.isScope(id));
    while (waiting.length) {
      const next: number[] = [];
      waiting.sort((a, b) => this.scopeOf(b).count - this.scopeOf(a).count);
      for (const id of waiting) {
        const scope = this.scopeOf(id);
        const isOnly = this.root.members.length === 1 && this.root.members[0] === id;
        if (scope.repeats || scope.name === "variables" || (shown + scope.members.length > most && !(isOnly && scope.members.length <= 4 * most))) continue;
        scope.isOpen = true;
        shown += scope.members.length;
        next.push(...scope.members.filter((item) => this.isScope(item)));
      }
      waiting = next;
    }
    // Where nearly everything is folded, one series is opened, and the first of it.
    for (let rounds = 0; shown < FEWEST_SHOWN && rounds < 4; rounds += 1) {
      const closed = this.scopes.filter((scope) => !scope.isOpen && this.visible(scope.id) === scope.id && shown + scope.members.length <= 3 * most);
      if (!closed.length) break;
      const widest = closed.reduce((a, b) => (b.count > a.count ? b : a));
      widest.isOpen = true;
      shown += widest.members.length;
      const first = widest.repeats ? this.scopeOf(widest.members[0]) : null;
      if (first && shown + first.members.length <= most) { first.isOpen = true; shown += first.members.length; }
    }
  }

  /** What is drawn for a node: itself, what it is drawn in, or the outermost closed scope that it is in. */
  visible(node: number): number {
    let found = this.isScope(node) ? node : this.owner[node] >= 0 ? this.owner[node] : node;
    for (let at = this.parent[found]; at >= 0; at = this.parent[at]) if (!this.scopeOf(at).isOpen) found = at;
    return found;
  }

  /** Opens all scopes that a node is in. */
  reveal(id: number): void {
    const own = !this.isScope(id) && this.owner[id] >= 0 ? this.owner[id] : id;
    for (let at = this.parent[own]; at >= 0; at = this.parent[at]) this.scopeOf(at).isOpen = true;
  }

  /** The open scopes, inner ones first, each with what is in it and the edges between. */
  levels(sizeOf: (id: number) => [number, number]): Level[] {
    const found: Level[] = [];
    const seen = new Map<number, Map<number, Set<number>>>();
    for (let target = 0; target < this.count; target += 1) {
      if (this.owner[target] >= 0) continue;
      for (const input of this.inputs[target]) {
        if (this.owner[input] >= 0) continue;
        let [a, b] = [input, target];
        while (this.parent[a] !== this.parent[b]) {
          if (this.depth[a] >= this.depth[b]) a = this.parent[a];
          else b = this.parent[b];
          if (a < 0 || b < 0) break;
        }
        if (a < 0 || b < 0 || a === b || this.parent[a] < 0) continue;
        const level = this.parent[a];
        if (!this.scopeOf(level).isOpen) continue;
        let sources = seen.get(level);
        if (!sources) seen.set(level, (sources = new Map()));
        let targets = sources.get(a);
        if (!targets) sources.set(a, (targets = new Set()));
        targets.add(b);
      }
    }
    const walk = (scope: Scope): void => {
      for (const id of scope.members) if (this.isScope(id) && this.scopeOf(id).isOpen) walk(this.scopeOf(id));
      const edges: number[] = [];
      for (const [source, targets] of seen.get(scope.id) ?? []) for (const target of targets) edges.push(source, target);
      found.push({ scope: scope.id, items: scope.members, sizes: scope.members.flatMap((id) => sizeOf(id)), edges });
    };
    walk(this.root);
    return found;
  }

  /** The edges between what is drawn, those alike together. */
  routes(): Map<string, { from: number; to: number; tensors: number; isControl: boolean; slot: number; source: number }> {
    const found = new Map<string, { from: number; to: number; tensors: number; isControl: boolean; slot: number; source: number }>();
    const shown = new Int32Array(this.count);
    for (let node = 0; node < this.count; node += 1) shown[node] = this.visible(node);
    for (let target = 0; target < this.count; target += 1) {
      if (this.owner[target] >= 0) continue;
      this.inputs[target].forEach((input, at) => {
        if (this.owner[input] >= 0) return;
        const [from, to] = [shown[input], shown[target]];
        if (from === to) return;
        const slot = this.inputSlots[target][at];
        const key = `${from} ${to}`;
        const known = found.get(key);
        if (known) { known.tensors += 1; known.isControl &&= slot < 0; }
        else found.set(key, { from, to, tensors: 1, isControl: slot < 0, slot, source: input });
      });
    }
    return found;
  }

  /** All nodes on ways from one node to another; empty if none leads there. */
  between(from: number, to: number): Set<number> {
    const reach = (start: number, next: number[][]): Set<number> => {
      const seen = new Set([start]);
      const waiting = [start];
      while (waiting.length) for (const item of next[waiting.pop()!]) if (!seen.has(item)) { seen.add(item); waiting.push(item); }
      return seen;
    };
    const ahead = reach(from, this.outputs);
    if (!ahead.has(to)) return new Set();
    const back = reach(to, this.inputs);
    return new Set([...ahead].filter((node) => back.has(node)));
  }
}
