/**
 * A program that prints CSV, which is how other databases are read: `mysql --batch`, `sqlite3 -csv`, ... It is started
 * as it is named, without a shell, so that only the program itself interprets its arguments.
 */
import { spawn } from "node:child_process";
import { TandemError } from "../../base/error.ts";
import { listOf, text } from "../../base/parameters/config-fields.ts";
import { streamCsvText } from "../csv-table.ts";
import { utf8Bytes } from "../csv-text.ts";
import { tableLimits } from "../limits.ts";
import { dataSource } from "./data-source.ts";

export const program = dataSource({
  about: "what a program prints as CSV, such as `sqlite3` or another database's own program",
  schema: listOf(text).min(1, "must name a program"),
  resolve: (command) => command,
  stream: ([name, ...args], sink, reading) => {
    const title = `the output of '${name}'`;
    return streamCsvText(title, utf8Bytes(title, commandOutput(title, name, args)), sink, tableLimits, reading);
  },
});

async function* commandOutput(title: string, program: string, args: readonly string[]): AsyncGenerator<Buffer> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], shell: false });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-2000)));
  const ended = new Promise<string | null>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(`it cannot be started (${error.code ?? error.message})`),
    );
    child.once("close", (code, signal) =>
      resolve(
        code === 0
          ? null
          : `it ended with ${signal ?? `exit code ${code}`}: ${complaint.trim().split("\n").at(-1) ?? ""}`,
      ),
    );
  });
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const trouble = await ended;
    if (trouble !== null) throw new TandemError("FILE_UNREADABLE", `${title}: ${trouble}`);
  } finally {
    child.kill();
  }
}
