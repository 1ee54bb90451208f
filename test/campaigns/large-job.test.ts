/** The script behind `npm run large`, with few rows: it runs a whole job, each process under a bound. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CappedProcess } from "../../scripts/capped-process.mjs";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "tandem-large-"))));
afterAll(() => rm(folder, { recursive: true }));

test("peaks of each process and phase; tables stay, and the job does not", async () => {
  const few = ["--rows", "600", "--columns", "2", "--trees", "1", "--depth", "2", "--folder", folder, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/large-job.mjs", ...few]);
  const said = JSON.parse(stdout) as { peaks: { name: string; peaks: object; peakBytes: number }[]; beyond: string[] };
  expect(said.beyond).toEqual([]);
  expect(said.peaks.map(({ name }) => name)).toEqual(["passive", "active"]);
  for (const { peaks, peakBytes } of said.peaks) {
    expect(Object.keys(peaks)).toContain("alignment");
    expect(peakBytes).toBeGreaterThan(2 ** 24);
  }
  expect((await readdir(folder)).toSorted()).toEqual(["bank-600-2-7", "retailer-600-2-7-0.95"]);
});

test("a process that needs more than it may have is ended, or found out", async () => {
  const source = "const all = Buffer.alloc(100 << 20, 1); setTimeout(() => all, 300)";
  const capBytes = 64 << 20;
  const command = [process.execPath, "-e", source];
  const greedy = new CappedProcess({ name: "greedy", capBytes, phase: "only", command });
  const looking = setInterval(() => greedy.look(), 20);
  const { signal } = await greedy.ended;
  clearInterval(looking);
  expect(signal === "SIGKILL" || greedy.peakBytes > capBytes).toBe(true);
});
