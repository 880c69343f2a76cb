// Bundles the console into src/millstream/server/page, from where the server serves it and wheels take it.
//
// `index.html` names the files, whose names change with their content. `live.js` is for notebooks, with its styles in it.
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const page = "../src/millstream/server/page";
const common = { bundle: true, minify: true, format: "esm", target: "es2022", jsx: "automatic", jsxImportSource: "preact", metafile: true, logLevel: "warning" };

rmSync(page, { recursive: true, force: true });
mkdirSync(page, { recursive: true });
const { metafile } = await build({
  ...common,
  entryPoints: ["src/main.tsx"],
  outdir: page,
  entryNames: "console-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".woff2": "file" },
  legalComments: "none",
});
await build({ ...common, entryPoints: ["src/live.tsx"], outdir: page, loader: { ".css": "text" }, legalComments: "none" });

const made = Object.keys(metafile.outputs).map((path) => basename(path));
const [script, style] = [".js", ".css"].map((ending) => made.find((name) => name.endsWith(ending)));
const html = readFileSync("src/index.html", "utf8").replace("SCRIPT", `page/${script}`).replace("STYLE", `page/${style}`);
writeFileSync(`${page}/index.html`, html);

// Whose code is in the bundle, and under which licences.
const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []));
const licences = [...packages].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version}, ${license}\n\n${file ? readFileSync(`${folder}/${file}`, "utf8").trim() : ""}\n`;
});
writeFileSync(`${page}/licences.txt`, licences.join(`\n${"-".repeat(80)}\n\n`));
