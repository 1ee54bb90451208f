import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { JsonLinesFile, JsonLinesReader, LineTail } from "./json-lines.ts";

const directory = mkdtempSync(join(tmpdir(), "tandem-lines-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("appended lines are read once, in order, by a following reader", async () => {
  const path = join(directory, "a.jsonl");
  const reader = new JsonLinesReader(path);
  expect(await reader.next()).toEqual([]);
  const file = new JsonLinesFile(path, 1000);
  file.append({ a: 1 });
  file.append("ü");
  expect(await reader.next()).toEqual([{ a: 1 }, "ü"]);
  file.append(3);
  expect(await reader.next()).toEqual([3]);
  expect(await reader.next()).toEqual([]);
  file.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("an incomplete last line is left for later, and skipped once something follows it", async () => {
  const path = join(directory, "torn.jsonl");
  writeFileSync(path, '{"a":1}\n{"b":');
  const reader = new JsonLinesReader(path);
  expect(await reader.next()).toEqual([{ a: 1 }]);
  const file = new JsonLinesFile(path, 1000);
  file.append({ c: 3 });
  file.close();
  expect(await reader.next()).toEqual([{ c: 3 }]);
  expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"b":\n{"c":3}\n');
});

test("a line that arrives in two pieces is read whole", async () => {
  const path = join(directory, "pieces.jsonl");
  const reader = new JsonLinesReader(path);
  writeFileSync(path, '{"a"');
  expect(await reader.next()).toEqual([]);
  appendFileSync(path, ":1}\n");
  expect(await reader.next()).toEqual([{ a: 1 }]);
});

test("past its bound a file grows no more", () => {
  const path = join(directory, "bounded.jsonl");
  const file = new JsonLinesFile(path, 20);
  for (let i = 0; i < 100; i++) file.append(123456);
  file.close();
  expect(statSync(path).size).toBe(14);
});

test("a long file is followed in steps, from any line on; a line that is longer than a step comes whole", () => {
  const path = join(directory, "long.jsonl");
  const lines = Array.from({ length: 500 }, (_, i) => JSON.stringify({ i, padding: "-".repeat(1000) }));
  const long = JSON.stringify("x".repeat(700_000));
  writeFileSync(path, [...lines, long, ...lines, ""].join("\n"));
  const tail = new LineTail(path);
  const seen: string[] = [];
  let steps = 0;
  for (let more = true; more; more = tail.more) {
    seen.push(...tail.next());
    steps++;
  }
  expect(seen).toEqual([...lines, long, ...lines]);
  expect(steps).toBeGreaterThan(3);
  expect([tail.offset, tail.grown, tail.next()]).toEqual([statSync(path).size, false, []]);
  const rest = new LineTail(path, lines.join("\n").length + 1).next();
  expect(rest[0]).toBe(long);
  expect(rest.slice(1)).toEqual(lines.slice(0, rest.length - 1));
});

test("a line above the maximum length is skipped, and those after it are read", () => {
  const path = join(directory, "endless.jsonl");
  writeFileSync(path, ["1", "x".repeat(900_000), "2", "x".repeat(900_000)].join("\n"));
  const tail = new LineTail(path, 0, 300_000);
  const seen: string[] = [];
  for (let more = true; more; more = tail.more) seen.push(...tail.next());
  expect(seen).toEqual(["1", "2"]);
});
