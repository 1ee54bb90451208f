/** Lines of code and prose that are wider than the formatter's width. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";

export const columnsMax = 120;

const checked = new Set([".ts", ".tsx", ".mjs", ".js", ".cpp", ".h", ".proto", ".css", ".html", ".py", ".md", ".yaml"]);
/** Written by programs. */
const generated = /^(?:docs\/(?:results|xgboost|parameters)\.md|api\/.*)$/;

/** @returns {string[]} one line each: file, line, width */
export function wideLines(root) {
  const found = [];
  for (const name of trackedFiles(root)) {
    if (!checked.has(extname(name)) || generated.test(name)) continue;
    const isProse = name.endsWith(".md");
    readFileSync(join(root, name), "utf8")
      .split("\n")
      .forEach((line, i) => {
        const width = [...line].length;
        if (width <= columnsMax || (isProse && mayBeWide(line))) return;
        found.push(`${name}:${i + 1}: ${width} columns; the limit is ${columnsMax}`);
      });
  }
  return found;
}

/** Tables, and lines that one link, address or image fills. */
function mayBeWide(line) {
  return line.startsWith("|") || line.replaceAll(/!?\[[^\]]*\]\([^)]*\)|https?:\/\/\S+/g, "").length <= columnsMax;
}

function trackedFiles(root) {
  const options = { cwd: root, encoding: "utf8" };
  const { status, stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], options);
  // A package without git has been checked before it was packed.
  return status === 0 ? stdout.split("\n").filter((name) => name !== "") : [];
}
