// Questions and answers: by HTTP if a server is there, else out of the page, which then has them in it.

import { button, h, notice, replace } from "./dom";

export type Given = Record<string, unknown>;

export class AnswerError extends Error {
  constructor(readonly kind: string, message: string) { super(message); }
}

interface Embedded { answers: Record<string, unknown>; left_out: string[] }

const element = typeof document === "undefined" ? null : document.getElementById("answers");
const embedded: Embedded | null = element ? JSON.parse(element.textContent ?? "{}") : null;
/** Whether a server answers. Without one, a page has the answers that were put into it. */
export const isLive = embedded === null;
export const leftOut = embedded?.left_out ?? [];

const token = new URLSearchParams(typeof document === "undefined" ? "" : location.search).get("token") ?? "";

/** A question as one text, as page.py makes it. */
function question(name: string, given: Given): string {
  const keys = Object.keys(given).sort();
  return `${name} {${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(given[key])}`).join(",")}}`;
}

async function post(name: string, given: Given, signal?: AbortSignal): Promise<any> {
  const response = await fetch(`api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(given),
    signal,
  }).catch((error) => {
    if (signal?.aborted) throw error;
    throw new AnswerError("gone", "The server does not answer. It was ended, perhaps: start tensorkeep view again.");
  });
  if (!response.headers.get("Content-Type")?.startsWith("application/json")) throw new AnswerError("refused", await response.text());
  const answer = await response.json();
  if (!response.ok) throw new AnswerError(answer.error, answer.message);
  return answer;
}

const kept = new Map<string, Promise<any>>();

function fromPage(name: string, given: Given): any {
  const found = embedded!.answers[question(name, given)] as any;
  if (found === undefined) throw new AnswerError("not in the page", "This is not in the page. It takes the viewer itself: tensorkeep view PATH");
  if (found.error !== undefined && found.message !== undefined && Object.keys(found).length === 2) throw new AnswerError(found.error, found.message);
  return found;
}

/** Whether a question is answered without a server. */
export function isInPage(name: string, given: Given): boolean {
  return !isLive && embedded!.answers[question(name, given)] !== undefined;
}

/** Asks something that is answered at once; the same question is asked once. */
export function ask(name: string, given: Given = {}): Promise<any> {
  const key = question(name, given);
  let found = kept.get(key);
  if (!found) {
    found = isLive ? post(name, given) : new Promise((resolve) => resolve(fromPage(name, given)));
    kept.set(key, found);
    found.catch(() => kept.delete(key));
  }
  return found;
}

export function forget(name: string): void {
  for (const key of kept.keys()) if (key.startsWith(`${name} `)) kept.delete(key);
}

/** Asks something that may take long. Told how far it is; ended by the signal, on the server too. */
export async function work(name: string, given: Given, onprogress: (done: number, total: number) => void, signal: AbortSignal): Promise<any> {
  if (!isLive) return fromPage(name, given);
  const key = question(name, given);
  const known = kept.get(key);
  if (known) return known;
  let answer = await post(name, given, signal);
  while (answer.job !== undefined && answer.total !== undefined) {
    const id = answer.job as string;
    if (signal.aborted) {
      await post("cancel", { id });
      throw new DOMException("cancelled", "AbortError");
    }
    onprogress(answer.done, answer.total);
    answer = await post("job", { id });
  }
  if (signal.aborted) throw new DOMException("cancelled", "AbortError");
  if (name !== "run" && name !== "node_value") kept.set(key, Promise.resolve(answer));
  return answer;
}

/** The address of a tensor as a file. */
export function fileAddress(source: number, name: string): string {
  return `npy?${new URLSearchParams({ token, source: String(source), name })}`;
}

/** Shows what an answer gives in a place, with progress and a way to cancel while it is worked on. */
export function working(place: HTMLElement, name: string, given: Given, show: (answer: any) => void | Node, what = "Working"): () => void {
  const ending = new AbortController();
  const bar = h("progress", { max: 1, "aria-label": what });
  const text = h("span", {}, `${what} …`);
  const cancel = button("Cancel", () => ending.abort());
  const box = h("div", { class: "working", role: "status" }, bar, text, cancel);
  const timer = setTimeout(() => replace(place, box), 150);
  const progress = (done: number, total: number): void => {
    if (total > 0) { bar.value = done / total; text.textContent = `${what} … ${Math.round((100 * done) / total)} %`; }
  };
  work(name, given, progress, ending.signal).then((answer) => {
    clearTimeout(timer);
    if (ending.signal.aborted) return;
    const shown = show(answer);
    if (shown) replace(place, shown);
    else if (box.parentElement) box.remove();
  }).catch((error) => {
    clearTimeout(timer);
    const again = button("Try again", () => working(place, name, given, show, what));
    if (ending.signal.aborted) replace(place, h("p", { class: "quiet" }, "Cancelled. ", again));
    else replace(place, problem(error));
  });
  return () => ending.abort();
}

export function problem(error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  const isMissing = error instanceof AnswerError && error.kind === "not in the page";
  return notice(isMissing ? "info" : "error", isMissing ? "Not in this page" : "This cannot be shown", h("p", { class: "wrap" }, message));
}
