// A form for each signature of a model: values in, values out, and values on the way.

import { ask, isLive, problem, working } from "./api";
import { button, count, h, notice, replace, seconds, shapeText } from "./dom";
import { arrayView } from "./graph/view";
import { Place } from "./place";

interface Input { name: string; dtype: string; shape: (number | null)[] | null; is_optional: boolean }
interface Signature { name: string; method: string; inputs: Input[]; outputs: Input[]; is_plain: boolean }
type Value = () => Promise<unknown>;
/** What is sent for an input. Remarks are for the reader: what was done to a file to make it fit. */
interface Sent { kind: string; data: string; shape?: number[]; remarks?: string[] }

const RATES = [8000, 16000, 22050, 44100, 48000];

export function runView(place: Place): void {
  ask("signatures", { source: place.source.number }).then((answer) => show(place, answer.signatures as Signature[])).catch((error) => replace(place.element, problem(error)));
}

function show(place: Place, signatures: Signature[]): void {
  if (!signatures.length) { replace(place.element, notice("empty", "No signatures", h("p", {}, "This model says nothing of what it takes and gives, so there is nothing to fill in."))); return; }
  if (!isLive) {
    replace(place.element, h("div", { class: "page" }, notice("info", "Running takes the viewer itself", h("p", {}, "tensorkeep view PATH")), signatures.map((item) => h("section", { class: "card" }, h("h2", {}, item.name), ends("Takes", item.inputs), ends("Gives", item.outputs)))));
    return;
  }
  const wanted = place.given.get("signature");
  const usual = signatures.find((item) => item.name === wanted) ?? signatures.find((item) => item.name === "serving_default") ?? signatures[0];
  const body = h("div");
  const pick = h("select", { "aria-label": "Signature", onchange: (event: Event) => form(body, place, signatures.find((item) => item.name === (event.target as HTMLSelectElement).value)!) },
    signatures.map((item) => h("option", { value: item.name, selected: item === usual }, item.name)));
  replace(place.element, h("div", { class: "page" }, h("p", {}, h("label", {}, "Signature ", pick), h("span", { class: "quiet" }, " The model computes, and may do nothing else.")), body));
  form(body, place, usual);
}

function ends(title: string, inputs: Input[]): HTMLElement {
  return h("div", {}, h("h3", {}, title), h("ul", { class: "plain" }, inputs.map((item) => h("li", { class: "wrap" }, h("b", {}, item.name), ` ${item.dtype} ${shapeText(item.shape)}`))));
}

function form(body: HTMLElement, place: Place, signature: Signature): void {
  const values = new Map<string, Value>();
  const answers = h("div", { class: "answers", role: "region", "aria-label": "Answer" });
  const node = place.given.get("node");
  const given = async (): Promise<Record<string, unknown>> => {
    const found: Record<string, unknown> = Object.create(null);
    for (const [name, value] of values) {
      const one = await value();
      if (one !== null) found[name] = one;
    }
    return found;
  };
  const asked = { source: place.source.number, signature: signature.name };
  const run = (): void => {
    given().then((sent) => working(answers, "run", { ...asked, values: sent }, (answer) => h("div", {}, h("p", {}, `It took ${seconds(answer.seconds)}${answer.preparing > 0.01 ? `, and ${seconds(answer.preparing)} to get ready` : ""}.`),
      answer.outputs.map((output: any) => h("section", { class: "card" }, h("h2", { class: "wrap" }, output.name), output.parts ? output.parts.map(arrayView) : arrayView(output)))), "Running")).catch((error) => replace(answers, problem(error)));
  };
  const number = h("input", { type: "number", min: 0, value: node ?? "", "aria-label": "Number of a node", placeholder: "number of a node" });
  const graph = Number(place.given.get("graph") ?? 0);
  const inner = (): void => {
    given().then((sent) => working(answers, "node_value", { ...asked, values: sent, graph, node: Number(number.value) }, (answer) => {
      const title = h("h2", { class: "wrap" }, "Value of a node");
      ask("node", { source: place.source.number, graph, node: Number(number.value) }).then((told) => { replace(title, `${told.op} ${told.name}`); }).catch(() => undefined);
      return h("section", { class: "card" }, title, h("p", {}, `It took ${seconds(answer.seconds)}. `, button("Show it in the graph", () => void ask("node", { source: place.source.number, graph, node: Number(number.value) }).then((told) => place.go("graph", { node: told.name, graph: String(graph) })), { class: "link" })), answer.outputs.map(arrayView));
    }, "Running up to the node")).catch((error) => replace(answers, problem(error)));
  };
  const fields = signature.inputs.map((input) => { const [element, value] = field(input); values.set(input.name, value); return element; });
  const onsubmit = (event: Event): void => { event.preventDefault(); run(); };
  replace(body, signature.is_plain ? null : notice("info", "Not by a form", h("p", {}, "It takes values made of several tensors, sparse or ragged. From Python, tensorkeep.load_saved_model runs it.")),
    h("form", { class: "card", onsubmit }, h("h2", {}, "Takes"), fields.length ? fields : h("p", { class: "quiet" }, "Nothing."),
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "main", disabled: !signature.is_plain }, "Run")),
      h("details", { open: node !== null }, h("summary", {}, "Value of a node on the way"), h("p", { class: "quiet" }, "Choose a node in the graph and then “Its value”; its number stands here."), h("div", { class: "buttons" }, number, button("Tell its value", inner)))),
    answers, ends("Gives", signature.outputs));
}

// -------------------------------------------------------------------------------------------------------------- inputs

function nested(shape: number[], value: unknown): unknown {
  return shape.length ? Array.from({ length: shape[0] }, () => nested(shape.slice(1), value)) : value;
}

function field(input: Input): [HTMLElement, Value] {
  const isText = input.dtype === "string";
  const shape = (input.shape ?? []).map((item) => item ?? 1);
  const elements = shape.reduce((product, item) => product * item, 1);
  const id = `input-${Math.random().toString(36).slice(2)}`;
  const example = elements > 4096 ? "" : JSON.stringify(nested(shape, isText ? "" : input.dtype === "bool" ? false : 0));
  const area = h("textarea", { id, rows: 3, spellcheck: "false" }, example);
  const file = h("input", { type: "file", "aria-label": `File for ${input.name}` });
  const scale = h("select", { "aria-label": "Numbers of pictures" }, h("option", { value: "1" }, "pictures: 0 to 1"), h("option", { value: "255" }, "pictures: 0 to 255"), h("option", { value: "-1" }, "pictures: −1 to 1"));
  if (input.dtype.includes("int")) scale.value = "255";
  const rate = h("select", { "aria-label": "Samples of sounds" }, h("option", { value: "0" }, "sounds: the file’s own rate"), RATES.map((item) => h("option", { value: item }, `sounds: ${item.toLocaleString("en")} a second`)));
  const told = h("p", { class: "quiet" });
  let sent: Promise<Sent> | null = null;
  const take = (): void => {
    const chosen = file.files?.[0];
    sent = chosen ? fromFile(chosen, input, Number(scale.value), Number(rate.value)) : null;
    sent?.then((value) => { told.textContent = [`${chosen!.name}: ${value.shape ? shapeText(value.shape) : `${chosen!.size.toLocaleString("en")} bytes`}`, ...(value.remarks ?? [])].join(", "); }).catch((error) => { told.textContent = String(error.message ?? error); });
  };
  file.addEventListener("change", take);
  scale.addEventListener("change", take);
  rate.addEventListener("change", take);
  const fill = button("Random numbers", () => { area.value = JSON.stringify(randomly(shape, input.dtype)); }, { disabled: elements > 65536 });
  const element = h("div", { class: "field" }, h("label", { for: id }, h("b", {}, input.name), ` ${input.dtype} ${shapeText(input.shape)}${input.is_optional ? ", may be left out" : ""}`), area,
    h("div", { class: "buttons" }, isText ? null : fill, file, isText ? null : [scale, rate]), told);
  return [element, async () => {
    if (sent) return sent;
    const text = area.value.trim();
    if (!text) return input.is_optional ? null : { kind: "list", value: [] };
    return { kind: "list", value: parsed(text, input) };
  }];
}

/** What was typed: JSON, or numbers or text without brackets. */
function parsed(text: string, input: Input): unknown {
  try {
    return JSON.parse(text.replace(/\bNaN\b/g, '"NaN"').replace(/(-?)\bInfinity\b/g, '"$1Infinity"'));
  } catch {
    if (input.dtype === "string") return input.shape?.length === 0 ? text : [text];
    const numbers = text.split(/[\s,;]+/).map(Number);
    if (numbers.some(Number.isNaN)) throw new Error(`"${input.name}": ${count(numbers.length, "value")}, and not all are numbers. Write JSON, such as [[1, 2], [3, 4]].`);
    return input.shape?.length === 0 ? numbers[0] : input.shape?.length === 2 ? [numbers] : numbers;
  }
}

function randomly(shape: number[], dtype: string): unknown {
  if (shape.length) return Array.from({ length: shape[0] }, () => randomly(shape.slice(1), dtype));
  if (dtype === "bool") return Math.random() < 0.5;
  return dtype.includes("int") ? Math.floor(Math.random() * 10) : Number((Math.random() * 2 - 1).toFixed(4));
}

async function base64(data: ArrayBuffer): Promise<string> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error("the file cannot be read"));
    reader.readAsDataURL(new Blob([data]));
  });
  return address.slice(address.indexOf(",") + 1);
}

async function fromFile(file: File, input: Input, scale: number, rate: number): Promise<Sent> {
  const data = await file.arrayBuffer();
  if (file.name.toLowerCase().endsWith(".npy")) return { kind: "npy", data: await base64(data) };
  if (input.dtype === "string") return { kind: "bytes", data: await base64(data) };
  if (file.type.startsWith("image/")) return picture(file, input, scale);
  if (file.type.startsWith("audio/")) return sound(data, input, rate);
  throw new Error("Expected an .npy file, a picture or a sound.");
}

/** A picture as numbers, of the size that the input says; browsers decode it. */
async function picture(file: File, input: Input, scale: number): Promise<Sent> {
  const image = await createImageBitmap(file);
  const shape = input.shape ?? [null, null, null, 3];
  const rank = shape.length;
  const channels = rank >= 3 ? shape[rank - 1] ?? 3 : 1;
  if (rank < 2 || ![1, 3, 4].includes(channels)) throw new Error(`A picture is height × width × channels; the input is ${shapeText(input.shape)}.`);
  const at = rank >= 3 ? rank - 3 : 0;
  const [height, width] = [shape[at] ?? image.height, shape[at + 1] ?? image.width];
  const canvas = h("canvas", { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  context.drawImage(image, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height).data;
  const values = new Float32Array(width * height * channels);
  const number = (value: number): number => (scale === 255 ? value : scale === 1 ? value / 255 : value / 127.5 - 1);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [red, green, blue, alpha] = pixels.subarray(4 * pixel, 4 * pixel + 4);
    if (channels === 1) values[pixel] = number(0.299 * red + 0.587 * green + 0.114 * blue);
    else [red, green, blue, alpha].slice(0, channels).forEach((value, channel) => { values[pixel * channels + channel] = number(value); });
  }
  const full = [...shape.slice(0, at).map(() => 1), height, width, ...(rank >= 3 ? [channels] : [])];
  const remarks = width === image.width && height === image.height ? [] : [`made to fit from ${image.height} × ${image.width}`];
  return { kind: "floats", shape: full, data: await base64(values.buffer), remarks };
}

/** A sound as numbers, its first channel; browsers decode it, at the rate that is chosen or that its file says. */
async function sound(data: ArrayBuffer, input: Input, chosen: number): Promise<Sent> {
  const rate = chosen || waveRate(data);
  if (!rate) throw new Error("Only .wav files say their samples a second: choose how many the model takes.");
  if (input.dtype.includes("int") && input.dtype !== "int16") throw new Error(`A sound is numbers from −1 to 1, or int16; the input is ${input.dtype}.`);
  const decoded = await new OfflineAudioContext(1, 1, rate).decodeAudioData(data);
  const shape = input.shape ?? [null];
  if (!shape.length) throw new Error("A sound is many numbers; the input is one.");
  const wanted = shape[shape.length - 1] ?? decoded.length;
  const values = new Float32Array(wanted);
  values.set(decoded.getChannelData(0).subarray(0, wanted));
  if (input.dtype === "int16") values.forEach((value, at) => { values[at] = Math.max(-32768, Math.min(32767, Math.round(value * 32768))); });
  const remarks = [`${rate.toLocaleString("en")} samples a second`];
  if (decoded.numberOfChannels > 1) remarks.push(`the first of ${decoded.numberOfChannels} channels`);
  if (decoded.length > wanted) remarks.push(`the first ${wanted.toLocaleString("en")} of ${decoded.length.toLocaleString("en")} samples`);
  if (decoded.length < wanted) remarks.push(`${(wanted - decoded.length).toLocaleString("en")} zeros after ${decoded.length.toLocaleString("en")} samples`);
  return { kind: "floats", shape: [...shape.slice(0, -1).map(() => 1), wanted], data: await base64(values.buffer), remarks };
}

/** The samples a second that a .wav file says; 0 if it is none. */
function waveRate(data: ArrayBuffer): number {
  const view = new DataView(data);
  const word = (at: number): string => String.fromCharCode(...new Uint8Array(data, at, 4));
  if (view.byteLength < 12 || word(0) !== "RIFF" || word(8) !== "WAVE") return 0;
  for (let at = 12; at + 16 <= view.byteLength; at += 8 + view.getUint32(at + 4, true) + (view.getUint32(at + 4, true) & 1)) {
    if (word(at) === "fmt ") return view.getUint32(at + 12, true);
  }
  return 0;
}
