// Unpacks the Chromium of @sparticuz/chromium, and shared libraries that a machine may lack, and prints where it is.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("node_modules/.chromium", import.meta.url));
mkdirSync(folder, { recursive: true });
process.env.TMPDIR = folder;
const { default: chromium, inflate } = await import("@sparticuz/chromium");
chromium.setGraphicsMode = false;
const path = await chromium.executablePath();
if (!existsSync(join(folder, "al2023"))) await inflate(fileURLToPath(new URL("node_modules/@sparticuz/chromium/bin/al2023.tar.br", import.meta.url)));
console.log(path);
