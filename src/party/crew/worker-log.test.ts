import { expect, test } from "vitest";
import type { LogLevel } from "../../record/log-line.ts";
import { type WorkerEvent, workerLog } from "./worker-log.ts";

const events: readonly WorkerEvent[] = [
  { type: "worker-started", crew: "shop", threads: 2, version: "1.0.0" },
  { type: "engine-waited", message: "connection refused" },
  { type: "engine-found" },
  { type: "line-opened" },
  { type: "line-missing", message: "10.0.0.1:4322: refused" },
  { type: "blocks", blocks: 1 },
  { type: "tasks", tasks: 1 },
  { type: "tasks", tasks: 250 },
  { type: "trouble", message: "another process of the crew has a different crew.key than this worker" },
  { type: "trouble", message: "" },
  { type: "stopping" },
  { type: "stopped" },
];

function said(level: LogLevel, terminal: boolean): string[] {
  const lines: string[] = [];
  const tell = workerLog({ level, terminal, write: (text) => lines.push(text), now: () => new Date(0) });
  for (const event of events) tell("host-1", event);
  return lines;
}

test("words for a terminal", () => {
  expect(said("info", true).join("")).toBe(
    [
      "works for shop with 2 threads",
      "waits for the engine: connection refused",
      "connected to the engine",
      "connected to the party directly",
      "no direct connection to the party; gradients come through the engine instead: 10.0.0.1:4322: refused",
      "holds 1 block",
      "did 1 task",
      "did 250 tasks",
      "another process of the crew has a different crew.key than this worker",
      "resumes",
      "stops, and gives its blocks back",
      "stopped",
      "",
    ]
      .map((words) => (words === "" ? "" : `1970-01-01 00:00:00  host-1: ${words}\n`))
      .join(""),
  );
});

test("for programs a trouble that is over has no empty words", () => {
  const lines = said("info", false).map((line) => JSON.parse(line) as { event: string });
  const over = { time: "1970-01-01T00:00:00.000Z", level: "info", worker: "host-1", event: "trouble-over" };
  expect(lines.filter(({ event }) => event.startsWith("trouble")).at(-1)).toEqual(over);
});

test("lines of JSON for programs; at level warn only what needs attention", () => {
  const lines = said("warn", false).map((line) => JSON.parse(line) as object);
  const common = { time: "1970-01-01T00:00:00.000Z", level: "warn", worker: "host-1" };
  expect(lines).toEqual([
    { ...common, event: "engine-waited", message: "connection refused" },
    { ...common, event: "line-missing", message: "10.0.0.1:4322: refused" },
    { ...common, event: "trouble", message: "another process of the crew has a different crew.key than this worker" },
  ]);
});
