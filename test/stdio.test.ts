/** The library over standard input and output, as programs in other languages use it: the built program. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";

const folder = scratchDirectory();

interface Answer {
  readonly id: number;
  readonly progress?: { readonly type: string };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The process, and the final answers to requests by id. */
function start() {
  const child = spawn(process.execPath, [packagePath("dist", "program", "stdio.cjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  const steps: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.progress === undefined) waiting.get(answer.id)?.(answer);
    else steps.push(answer.progress.type);
  });
  const send = (line: string): boolean => child.stdin.write(`${line}\n`);
  const answerTo = (id: number): Promise<Answer> => new Promise((resolve) => waiting.set(id, resolve));
  let next = 1;
  return {
    child,
    steps,
    send,
    answerTo,
    call(name: string, parameters: object = {}): Promise<Answer> {
      const id = next++;
      const answer = answerTo(id);
      send(JSON.stringify({ id, call: name, ...parameters }));
      return answer;
    },
  };
}

test("simulates, predicts and closes; mistakes get a code; the process ends with its input", async () => {
  const data = join(folder, "loans.csv");
  writeLoanTable(data, 120);
  const { call, send, answerTo, child, steps } = start();
  const out = join(folder, "out");
  const options = { label: "defaulted", id: "id", active: ["income", "debt"], passives: [["visits", "basket"]] };
  const training = { num_round: 2, max_depth: 2 };
  const { result } = await call("simulate", { table: data, out, options: { ...options, scheme: "lattice", training } });
  const predictions = result?.["predictions"] as { ids: string[]; labels: number[]; names: string[] };
  expect(predictions.names).toEqual(["prediction"]);
  expect(predictions.labels).toHaveLength(predictions.ids.length);
  expect(statSync(out)).toMatchObject({ size: 8 * 30 });
  expect(statSync(out).mode & 0o077).toBe(0);
  expect(steps).toContain("tree");
  const held = new Float64Array(new Uint8Array(readFileSync(out)).buffer);

  const opened = await call("readModel", { text: result?.["model"] });
  expect(opened.result).toMatchObject({ treeCount: 2, features: ["income", "debt", "visits", "basket"] });
  const handle = opened.result?.["handle"];
  expect((await call("predict", { handle, table: data, out, options: {} })).result).toEqual({ rows: 120 });
  const all = new Float64Array(new Uint8Array(readFileSync(out)).buffer);
  expect(predictions.ids.map((id) => all[Number(id.slice(1))])).toEqual([...held]);
  expect((await call("closeModel", { handle })).result).toBeNull();

  for (const [name, parameters, code, words] of [
    ["predict", { handle, table: data, out, options: {} }, "USAGE", /^model 1 is not open$/],
    ["nothing", {}, "USAGE", /^unknown call 'nothing'$/],
    ["constructor", {}, "USAGE", /^unknown call 'constructor'$/],
    ["simulate", { table: data, out, options: { ...options, label: 3 } }, "USAGE", /^options\.label: /],
    ["simulate", { table: data, out, options: { ...options, lable: "y" } }, "USAGE", /^options: .*lable/],
    ["simulate", { table: join(folder, "absent.csv"), out, options }, "FILE_UNREADABLE", /absent\.csv/],
    ["train", { config: { name: "bank" }, out }, "FILE_FORMAT", /./],
  ] as const) {
    const { error } = await call(name, parameters);
    expect(error, name).toEqual({ code, message: expect.stringMatching(words) as string });
  }
  const refused = answerTo(-1);
  send('{"id":"1"}');
  expect((await refused).error).toEqual({ code: "USAGE", message: "a line is not a request" });

  const long = call("simulate", {
    table: data,
    out,
    options: { ...options, scheme: "lattice", training: { num_round: 100_000 } },
  });
  while (steps.filter((type) => type === "tree").length < 6) await new Promise((resolve) => setTimeout(resolve, 20));
  send(JSON.stringify({ id: 900, call: "cancel", request: 12 }));
  expect((await long).error).toEqual({ code: "CANCELLED", message: "cancelled" });
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});
