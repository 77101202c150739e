// The page itself: what is looked at, its views, and where one is.

import { isWorker } from "./graph/layout";
import { ask, forget, isLive, leftOut, problem } from "./api";
import { button, facts, h, notice, replace } from "./dom";
import { checksView } from "./checks";
import { graphView } from "./graph/view";
import { historyView } from "./history";
import { Place, SourceTold } from "./place";
import { runView } from "./run";
import { tablesView } from "./tables";
import { weightsView } from "./weights";

const VIEWS: Record<string, [string, (place: Place) => void | (() => void)]> = {
  about: ["About", aboutView],
  graph: ["Graph", graphView],
  weights: ["Weights", weightsView],
  tables: ["Embedding tables", tablesView],
  history: ["History", historyView],
  run: ["Run it", runView],
  checks: ["Checks", checksView],
};

let sources: SourceTold[] = [];
let end: void | (() => void);
let here = "";
// The same program is the worker that lays graphs out, and there are no elements there.
const [content, tabs, picker] = isWorker ? [] as never : [h("main", { id: "content", tabindex: -1 }), h("nav", { class: "tabs", "aria-label": "Views" }), h("div", { class: "picker" })];

function aboutView(place: Place): void {
  const told = place.source;
  const facts_: [string, string][] = [["path", told.path], ["kind", told.kind]];
  if (told.writer) facts_.push(["written by", told.writer]);
  if (told.format) facts_.push(["format of", told.format]);
  const name = (view: string): string => VIEWS[view][0];
  replace(place.element, h("div", { class: "page" },
    told.error ? notice("error", told.views.length ? "Something is wrong with it; what can be read is shown" : "It cannot be read", h("p", { class: "wrap" }, told.error)) : null,
    !told.views.length && !told.error && !told.entries.length ? notice("empty", `This is ${told.kind}`, h("p", {}, "It is none of what can be looked at here:"), h("ul", {}, told.could_be.map((text) => h("li", {}, text)))) : null,
    !told.views.length && told.error ? h("div", { class: "card" }, h("p", {}, "What can be looked at here:"), h("ul", {}, told.could_be.map((text) => h("li", {}, text)))) : null,
    told.entries.length ? h("section", { class: "card" }, h("h2", {}, "In this folder"), h("ul", { class: "plain" }, told.entries.map((entry) => h("li", {}, isLive ? button(entry.name, () => void open(told.number, entry.name), { class: "link" }) : entry.name, h("span", { class: "quiet" }, ` ${entry.kind}`))))) : null,
    told.views.length ? h("section", { class: "card" }, h("h2", {}, "See"), h("div", { class: "buttons" }, told.views.map((view) => button(name(view), () => place.go(view), { class: "main" })))) : null,
    h("section", { class: "card" }, h("h2", {}, told.name), facts([...facts_, ...told.facts])),
    leftOut.length ? h("section", { class: "card" }, h("h2", {}, "Not in this page"), leftOut.map((text) => h("p", { class: "wrap" }, text))) : null));
}

async function open(source: number, name: string): Promise<void> {
  try {
    const answer = await ask("open", { source, name });
    await reopen(answer.source, "");
  } catch (error) {
    replace(content, problem(error));
  }
}

async function reopen(source: number, view: string, given: Record<string, string> = {}): Promise<void> {
  forget("sources");
  sources = (await ask("sources")).sources;
  go(source, view || sources[source].views[0] || "about", given);
}

function go(source: number, view: string, given: Record<string, string> = {}): void {
  const words = new URLSearchParams(given).toString();
  const hash = `#/${source}/${view}${words ? `?${words}` : ""}`;
  try {
    history.pushState(null, "", hash);
  } catch { /* a frame in a notebook has no address of its own */ }
  show(hash);
}

function show(hash: string): void {
  const [, number, rest = ""] = /^#\/(\d+)\/(.*)$/.exec(hash) ?? [];
  const source = sources[Number(number ?? 0)] ?? sources[0];
  const [name, words = ""] = rest.split("?", 2);
  const usual = source.error ? "about" : source.views[0] ?? "about";
  const view = name in VIEWS && (name === "about" || source.views.includes(name)) ? name : usual;
  if (typeof end === "function") end();
  here = view;
  document.title = `${source.name}: ${VIEWS[view][0]}`;
  bar(source, view);
  const element = h("div", { class: "view", "data-view": view });
  replace(content, element);
  end = VIEWS[view][1]({
    element, source, sources, given: new URLSearchParams(words),
    go: (to, given, other) => go(other ?? source.number, to, given),
    reopen,
  });
}

function bar(source: SourceTold, view: string): void {
  replace(tabs, ["about", ...source.views].map((name) => h("a", {
    href: `#/${source.number}/${name}`, class: "tab", "aria-current": name === view ? "page" : null,
    onclick: (event: MouseEvent) => { event.preventDefault(); go(source.number, name); },
  }, VIEWS[name][0])));
  const path = h("span", { class: "path", title: source.path }, source.path);
  replace(picker, sources.length < 2 ? path : h("select", { "aria-label": "What to look at", onchange: (event: Event) => {
    const number = Number((event.target as HTMLSelectElement).value);
    go(number, sources[number].views.includes(here) ? here : sources[number].views[0] ?? "about");
  } }, sources.map((item) => h("option", { value: item.number, selected: item.number === source.number }, item.path))));
}

function theme(): HTMLElement {
  const names = ["auto", "light", "dark"];
  let at = 0;
  const label = (): string => `Theme: ${names[at]}`;
  const made = button(label(), () => {
    at = (at + 1) % names.length;
    if (names[at] === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = names[at];
    made.textContent = label();
    document.dispatchEvent(new Event("tensorkeep-theme"));
  }, { class: "theme" });
  return made;
}

async function start(): Promise<void> {
  document.body.append(h("a", { class: "skip", href: "#content", onclick: (event: Event) => { event.preventDefault(); content.focus(); } }, "Skip to the content"),
    h("header", { class: "top" }, h("h1", {}, "tensorkeep"), picker, theme()), tabs, content);
  try {
    const answer = await ask("sources");
    sources = answer.sources;
    window.addEventListener("popstate", () => show(location.hash));
    show(location.hash);
  } catch (error) {
    replace(content, h("div", { class: "page" }, problem(error)));
  }
}

if (!isWorker) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => void start());
  else void start();
}
