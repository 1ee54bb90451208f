/** A scratch directory, and a table, for tests. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { SeededRandom } from "../../src/base/random.ts";

/** A directory that is gone after the test file. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tandem-test-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A table with an id, a label that its columns explain, six features and some missing cells. */
export function writeLoanTable(
  path: string,
  rows: number,
  options: { readonly missing?: string; readonly words?: boolean } = {},
): void {
  const random = new SeededRandom(`loans-${rows}`);
  const lines = ["id,income,debt,age,visits,basket,minutes,defaulted"];
  for (let row = 0; row < rows; row++) {
    const values = Array.from({ length: 6 }, () => random.normal());
    const risk = 1.5 * values[0] - values[3] + (values[4] > 0 ? values[5] : -values[5]);
    const label = random.uniform() < 1 / (1 + Math.exp(-2 * risk)) ? 1 : 0;
    const cells = values.map((value) =>
      options.missing !== undefined && random.uniform() < 0.1 ? options.missing : value.toFixed(3),
    );
    lines.push([`c${row}`, ...cells, options.words === true ? (label === 1 ? "yes" : "no") : label].join(","));
  }
  writeFileSync(path, `${lines.join("\n")}\n`);
}
