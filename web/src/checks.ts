// What was found: damage, numbers that should not be there, and what a model does besides computing.

import { isInPage, isLive, working } from "./api";
import { button, count, h, notice, replace } from "./dom";
import { Place } from "./place";

interface Finding { group: string; level: string; what: string; place: string; kind: string; text: string }

const GROUPS: Record<string, string> = { files: "Files and checksums", numbers: "Numbers", scan: "What the model does besides computing" };

export function checksView(place: Place): () => void {
  const body = h("div");
  replace(place.element, h("div", { class: "page" }, body));
  const given = { source: place.source.number };
  if (!isLive && !isInPage("checks", given)) {
    replace(body, notice("info", "Not checked", h("p", {}, "This page was written without checks. tensorkeep view PATH makes them.")));
    return () => undefined;
  }
  return working(body, "checks", given, (answer) => show(place, answer), "Reading everything");
}

function show(place: Place, answer: any): HTMLElement {
  const findings = answer.findings as Finding[];
  const errors = findings.filter((item) => item.level === "error").length;
  const looked = [answer.tensors ? (answer.has_checksums ? `every checksum of ${count(answer.tensors, "tensor")} was compared` : `every number of ${count(answer.tensors, "tensor")} was read`) : null, answer.is_scanned ? "the graph was scanned for what is more than computing" : null].filter(Boolean).join("; ");
  const verdict = errors ? h("b", { class: "verdict bad" }, "not fit for use without a look") : h("b", { class: "verdict good" }, "healthy");
  return h("div", {}, h("p", { class: "summary" }, verdict, ` ${count(errors, "error")}, ${count(findings.length - errors, "warning")}; ${looked || "there was nothing to read"}.`),
    Object.entries(GROUPS).map(([group, title]) => {
      const own = findings.filter((item) => item.group === group);
      return h("section", { class: "card" }, h("h2", {}, title), own.length ? h("ul", { class: "findings" }, own.slice(0, 1000).map((item) => h("li", { class: item.level },
        h("b", {}, item.what), " ", link(place, item), h("p", { class: "wrap" }, item.text)))) : h("p", { class: "quiet" }, "Nothing was found."),
      own.length > 1000 ? h("p", { class: "quiet" }, `and ${own.length - 1000} more`) : null);
    }));
}

function link(place: Place, item: Finding): HTMLElement {
  const views = place.source.views;
  if (item.kind === "tensor" && views.includes("weights")) return button(item.place, () => place.go("weights", { tensor: item.place }), { class: "link wrap" });
  if (item.kind === "node" && views.includes("graph")) return button(item.place, () => place.go("graph", { node: item.place }), { class: "link wrap" });
  return h("span", { class: "wrap" }, item.place);
}
