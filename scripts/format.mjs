/**
 * Formats everything that has a formatter: oxfmt for TypeScript, styles, JSON and prose, clang-format (as WebAssembly)
 * for C++.
 *
 *   node scripts/format.mjs            rewrites files
 *   node scripts/format.mjs --check    names those that would change, and lines that are too wide; exits with 1
 *
 * A formatter does not break strings and comments, so widths are checked besides. Tables and links may be wider.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "@wasm-fmt/clang-format";
import { wideLines } from "./wide-lines.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const isCheck = process.argv.includes("--check");

function formatWithOxfmt() {
  const command = join(root, "node_modules", ".bin", "oxfmt");
  const options = { cwd: root, encoding: "utf8", shell: process.platform === "win32" };
  const { status, stdout, stderr } = spawnSync(command, isCheck ? ["--check"] : [], options);
  if (status !== 0) console.error(`${stdout}${stderr}`.trim());
  return status === 0;
}

function formatNative() {
  const style = readFileSync(join(root, ".clang-format"), "utf8");
  let clean = true;
  for (const name of readdirSync(join(root, "native"), { recursive: true, encoding: "utf8" })) {
    if (![".cpp", ".h"].includes(extname(name))) continue;
    const path = join(root, "native", name);
    const text = readFileSync(path, "utf8");
    const formatted = format(text, name, style);
    if (formatted === text) continue;
    if (isCheck) {
      console.error(`native/${name}: not as clang-format writes it`);
      clean = false;
    } else {
      writeFileSync(path, formatted);
    }
  }
  return clean;
}

const results = [formatWithOxfmt(), formatNative()];
const wide = isCheck ? wideLines(root) : [];
for (const line of wide) console.error(line);
if (results.includes(false) || wide.length > 0) {
  if (isCheck) console.error("npm run format fixes everything except wide strings and comments");
  process.exitCode = 1;
}
