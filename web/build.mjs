// Builds the viewer's page: node build.mjs [FOLDER]. By default into the package, from where the wheel takes it.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../src/tensorkeep/viewer/static");
await mkdir(target, { recursive: true });
const common = { bundle: true, minify: true, target: "es2021", charset: "ascii", legalComments: "none", absWorkingDir: here };
await build({ ...common, entryPoints: ["src/main.ts"], outfile: join(target, "app.js"), format: "iife" });
await build({ ...common, entryPoints: ["src/style.css"], outfile: join(target, "app.css") });
await copyFile(join(here, "src/index.html"), join(target, "index.html"));

// Whoever has a copy of a library is to have its licence with it.
const lock = JSON.parse(await readFile(join(here, "package-lock.json"), "utf8"));
const shipped = Object.entries(lock.packages).filter(([path, item]) => path && !item.dev);
const texts = [];
for (const [path, item] of shipped) {
  const text = await readFile(join(here, path, "LICENSE"), "utf8");
  texts.push(`${path.replace(/^.*node_modules\//, "")} ${item.version} (${item.license})\n\n${text.trim()}\n`);
}
await writeFile(join(target, "LICENSES.txt"), `Libraries in app.js\n\n${texts.join("\n" + "-".repeat(80) + "\n\n")}`);

// A script in a page may hold nothing that ends its element, and nothing that another encoding of the page would change.
const script = await readFile(join(target, "app.js"), "utf8");
if (/<\/script|<!--/i.test(script)) throw new Error("app.js holds text that would end a script element");
if (/[^\x00-\x7f]/.test(script)) throw new Error("app.js holds letters that are not ASCII");
