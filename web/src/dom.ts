// Elements are made here and nowhere else. Text only ever becomes text: nothing of a model can be markup.

export type Child = Node | string | number | null | undefined | false | Child[];
type Properties = Record<string, unknown>;

function put(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) put(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(readable(String(child)));
  }
}

function set(element: Element, properties: Properties): void {
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on") && typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
    else if (key === "style") Object.assign((element as HTMLElement).style, value);
    else if (key === "value") (element as HTMLInputElement).value = String(value);
    else element.setAttribute(key, value === true ? "" : readable(String(value)));
  }
}

/** An element of HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, properties);
  put(element, children);
  return element;
}

/** An element of SVG. */
export function s(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, properties);
  put(element, children);
  return element;
}

/** Text as it may be shown: letters that hide, or turn other text round, are spelled out. */
export function readable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  put(element, children);
}

export function button(label: Child, onclick: () => void, properties: Properties = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick, ...properties }, label);
}

/** Bytes in words. */
export function size(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return "?";
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) { value /= 1024; at += 1; }
  return at === 0 ? (value === 1 ? "1 byte" : `${value} bytes`) : `${value.toPrecision(3)} ${units[at]}`;
}

/** A large number in words: 1.2 thousand, 3.4 million. */
export function amount(value: number): string {
  const units = ["", " thousand", " million", " billion", " trillion"];
  let at = 0;
  while (Math.abs(value) >= 1000 && at < units.length - 1) { value /= 1000; at += 1; }
  return `${at === 0 ? value : value.toPrecision(3)}${units[at]}`;
}

export function count(value: number, noun: string): string {
  return `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;
}

/** A number as it is shown: short, and exact enough. */
export function short(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(5)));
}

export function seconds(value: number): string {
  return value < 0.001 ? `${(value * 1e6).toFixed(0)} µs` : value < 1 ? `${(value * 1e3).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}

export function shapeText(shape: readonly (number | null)[] | null): string {
  return shape === null ? "any shape" : shape.length ? shape.map((item) => item ?? "?").join(" × ") : "scalar";
}

/** A table of names and what is said of each. */
export function facts(rows: [Child, Child][]): HTMLElement {
  return h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export function notice(kind: "empty" | "error" | "info", title: string, ...more: Child[]): HTMLElement {
  return h("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" }, h("h2", {}, title), ...more);
}

export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Calls a function when nothing has happened for a while. */
export function calmly<A extends unknown[]>(wait: number, act: (...given: A) => void): (...given: A) => void {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => act(...given), wait);
  };
}
