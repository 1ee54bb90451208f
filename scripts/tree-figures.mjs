/**
 * The shape of the tree in a few figures: files, functions, lines and folders. Prints them; judges nothing.
 *
 *   npm run figures [-- root]
 *
 * Generated code does not count. A function is measured from its first line to its last; one that is handed to `test`
 * or `describe` is a list of checks and does not count.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "rolldown/utils";
import { columnsMax } from "./wide-lines.mjs";

const isTest = (path) => /(?:\.test\.tsx?$|^test\/)/.test(path);

/**
 * @param {string} root the folder that holds src/, test/ and web/
 * @returns figures of the code and of its tests
 */
export function treeFigures(root) {
  const files = ["src", "lab", "test", "web/src"].flatMap((folder) => sources(root, folder));
  const code = files.filter((file) => !file.isTest);
  const folders = new Map();
  for (const { folder } of code) folders.set(folder, (folders.get(folder) ?? 0) + 1);
  return {
    code: figuresOf(code),
    tests: figuresOf(files.filter((file) => file.isTest)),
    fullest: largest(
      [...folders].map(([name, count]) => ({ name, count })),
      ({ count }) => count,
    ),
  };
}

function sources(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join("/"),
    )
    .filter((path) => !path.includes("/generated/"))
    .map((path) => ({ path, folder: path.slice(0, path.lastIndexOf("/")), isTest: isTest(path), ...read(root, path) }));
}

function read(root, path) {
  const text = readFileSync(join(root, path), "utf8");
  return { lines: text.replace(/\n$/, "").split("\n"), functions: functionsOf(path, text) };
}

/** @returns {{ path: string, line: number, length: number }[]} every function of a module */
export function functionsOf(path, text) {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const lineOf = lineCounter(text);
  const found = [];
  const listed = new Set();
  const measure = (node) => {
    if (node.body === null || listed.has(node)) return;
    const line = lineOf(node.start);
    found.push({ path, line, length: lineOf(node.end) - line + 1 });
  };
  new Visitor({
    CallExpression(node) {
      if (isCheck(node.callee)) for (const argument of node.arguments) listed.add(argument);
    },
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  return found;
}

/** `test`, `describe.each(...)`, and the like. */
function isCheck(callee) {
  if (callee.type === "Identifier") return /^(?:test|it|describe)$/.test(callee.name);
  return isCheck(callee.callee ?? callee.object ?? callee.tag ?? { type: "Identifier", name: "" });
}

function lineCounter(text) {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function figuresOf(files) {
  const lengths = files.map(({ lines }) => lines.length).toSorted((a, b) => a - b);
  const lines = files.flatMap((file) =>
    file.lines.map((text, i) => ({ at: `${file.path}:${i + 1}`, width: [...text].length })),
  );
  return {
    fileCount: files.length,
    lineCount: lines.length,
    medianFile: lengths[Math.floor(lengths.length / 2)] ?? 0,
    longestFile: largest(
      files.map((file) => ({ path: file.path, length: file.lines.length })),
      ({ length }) => length,
    ),
    longestFunction: largest(
      files.flatMap(({ functions }) => functions),
      ({ length }) => length,
    ),
    widestLine: largest(lines, ({ width }) => width),
    wideShare: lines.length === 0 ? 0 : lines.filter(({ width }) => width > columnsMax).length / lines.length,
  };
}

function largest(things, sizeOf) {
  return things.reduce((best, thing) => (best === null || sizeOf(thing) > sizeOf(best) ? thing : best), null);
}

function shown(title, figures) {
  const { fileCount, lineCount, medianFile, longestFile, longestFunction, widestLine, wideShare } = figures;
  return [
    `${title}: ${fileCount} files, ${lineCount} lines`,
    `  median file       ${medianFile} lines`,
    `  longest file      ${longestFile.length} lines, ${longestFile.path}`,
    `  longest function  ${longestFunction.length} lines, ${longestFunction.path}:${longestFunction.line}`,
    `  widest line       ${widestLine.width} columns, ${widestLine.at}`,
    `  over ${columnsMax} columns  ${(100 * wideShare).toFixed(1)} % of lines`,
  ].join("\n");
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { code, tests, fullest } = treeFigures(
    resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url))),
  );
  console.log(shown("code", code));
  console.log(shown("tests", tests));
  console.log(`fullest folder: ${fullest.count} files beside tests, ${fullest.name}`);
}
