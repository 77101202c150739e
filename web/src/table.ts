// A table of any number of rows, of which only those in sight are elements.

import { calmly, Child, h, replace } from "./dom";

export interface Column {
  title: string;
  width: string;
  isNumber?: boolean;
  /** What rows are sorted by. */
  value: (row: number) => string | number | null;
  /** What is shown; the value, if nothing is said. */
  show?: (row: number) => Child;
}

const ROW = 30;

export class Table {
  readonly element: HTMLElement;
  readonly shown = h("span", { class: "quiet", role: "status" });
  private rows: Int32Array;
  private order: Int32Array;
  private sorted: { column: number; down: boolean } | null = null;
  private first = -1;
  private chosen = -1;
  private readonly body = h("div", { class: "rows", role: "rowgroup" });
  private readonly space = h("div", { class: "space", role: "presentation" });
  private readonly scroller: HTMLElement;
  private readonly heads: HTMLElement[];
  private readonly template: string;

  constructor(private readonly columns: Column[], private readonly count: number, label: string,
    private readonly onpick?: (row: number) => void, private readonly noun = "tensor") {
    this.rows = Int32Array.from({ length: count }, (_, row) => row);
    this.order = this.rows;
    this.template = columns.map((column) => column.width).join(" ");
    this.heads = columns.map((column, at) => h("div", { role: "columnheader", class: column.isNumber ? "n" : "", "aria-sort": "none" },
      h("button", { type: "button", onclick: () => this.sort(at) }, column.title)));
    const head = h("div", { role: "row", class: "row head", style: { gridTemplateColumns: this.template } }, this.heads);
    this.space.append(this.body);
    // Head and rows are grids of their own: they line up because both are as wide as the columns take at least.
    const least = columns.reduce((sum, column) => sum + Number(/([\d.]+)rem/.exec(column.width)?.[1] ?? 6) + 0.8, 1.2);
    for (const part of [head, this.body]) part.style.minWidth = `${least}rem`;
    this.scroller = h("div", {
      class: "table", role: "table", "aria-label": label, "aria-rowcount": count + 1, tabindex: 0,
      onscroll: () => this.draw(), onkeydown: (event: KeyboardEvent) => this.key(event),
    }, h("div", { role: "rowgroup", class: "headgroup" }, head), this.space);
    this.element = this.scroller;
    new ResizeObserver(calmly(30, () => { this.first = -1; this.draw(); })).observe(this.scroller);
    this.changed();
  }

  /** Shows the rows that fit, in the order that was chosen. */
  filter(fits: ((row: number) => boolean) | null): void {
    if (!fits) this.order = this.rows;
    else {
      const found = new Int32Array(this.count);
      let length = 0;
      for (const row of this.rows) if (fits(row)) found[length++] = row;
      this.order = found.subarray(0, length);
    }
    this.scroller.scrollTop = 0;
    this.changed();
  }

  sort(column: number): void {
    const down = this.sorted?.column === column ? !this.sorted.down : Boolean(this.columns[column].isNumber);
    this.sorted = { column, down };
    const values = Array.from({ length: this.count }, (_, row) => this.columns[column].value(row));
    const sign = down ? -1 : 1;
    const compare = (a: number, b: number): number => {
      const [x, y] = [values[a], values[b]];
      if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
      return x < y ? -sign : x > y ? sign : a - b;
    };
    this.rows = Int32Array.from(this.rows).sort(compare);
    const wanted = new Set(this.order);
    this.order = wanted.size === this.count ? this.rows : this.rows.filter((row) => wanted.has(row));
    this.heads.forEach((head, at) => head.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending"));
    this.changed();
  }

  /** Marks a row, and brings it into sight. */
  choose(row: number, scroll = true): void {
    this.chosen = row;
    const at = this.order.indexOf(row);
    if (scroll && at >= 0) {
      const top = at * ROW;
      if (top < this.scroller.scrollTop || top > this.scroller.scrollTop + this.scroller.clientHeight - 3 * ROW) this.scroller.scrollTop = Math.max(0, top - 3 * ROW);
    }
    this.first = -1;
    this.draw();
  }

  refresh(): void {
    this.first = -1;
    this.draw();
  }

  private changed(): void {
    const all = this.count.toLocaleString("en");
    const noun = this.count === 1 ? this.noun : `${this.noun}s`;
    this.shown.textContent = this.order.length === this.count ? `${all} ${noun}` : `${this.order.length.toLocaleString("en")} of ${all} ${noun}`;
    // A browser has no elements of any height: of very long tables, the scroll bar is coarse.
    this.space.style.height = `${Math.min(this.order.length * ROW, 15_000_000)}px`;
    this.first = -1;
    this.draw();
  }

  private draw(): void {
    const height = this.scroller.clientHeight || 600;
    const fits = Math.ceil(height / ROW) + 6;
    const total = this.order.length * ROW;
    const room = Math.min(total, 15_000_000);
    const ratio = total > room ? (total - height) / (room - height) : 1;
    const first = Math.max(0, Math.min(this.order.length - 1, Math.floor((this.scroller.scrollTop * ratio) / ROW) - 3));
    if (first === this.first) return;
    this.first = first;
    this.body.style.transform = `translateY(${ratio === 1 ? first * ROW : this.scroller.scrollTop}px)`;
    const rows: HTMLElement[] = [];
    for (let at = first; at < Math.min(first + fits, this.order.length); at += 1) rows.push(this.row(at));
    replace(this.body, this.order.length ? rows : h("div", { role: "row", class: "row none" }, h("div", { role: "cell" }, "Nothing fits.")));
  }

  private row(at: number): HTMLElement {
    const row = this.order[at];
    const cells = this.columns.map((column) => {
      const value = column.show ? column.show(row) : column.value(row);
      return h("div", { role: "cell", class: column.isNumber ? "n" : "", title: typeof value === "string" ? value : null }, value);
    });
    return h("div", {
      role: "row", "aria-rowindex": at + 2, class: `row${row === this.chosen ? " chosen" : ""}${this.onpick ? " pick" : ""}`,
      style: { gridTemplateColumns: this.template }, onclick: () => this.pick(row),
    }, cells);
  }

  private pick(row: number): void {
    if (!this.onpick) return;
    this.choose(row, false);
    this.onpick(row);
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.scroller || !this.order.length || !this.onpick) return;
    const at = this.order.indexOf(this.chosen);
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.order.length - 1, PageDown: at + 15, PageUp: at - 15 };
    if (!(event.key in to)) return;
    event.preventDefault();
    const row = this.order[Math.max(0, Math.min(this.order.length - 1, to[event.key]))];
    this.choose(row);
    this.onpick(row);
  }
}
