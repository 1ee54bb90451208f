/** The paper's numbers, compared with its own source if that is next to the project. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Accuracy, type PaperRow, paperTables } from "./paper.ts";
import { paperDatasets } from "../trials/paper-datasets.ts";

const path = fileURLToPath(new URL("../../../shared/paper/batch-he-vfxgboost.tex", import.meta.url));
const absent = !existsSync(path);
if (absent) console.info("paper: skipped, the paper's source is not here");

/** The rows of the table with this label: where, and four numbers for each algorithm. */
function tableRows(tex: string, label: string): PaperRow[] {
  const end = tex.indexOf(`\\label{tab:${label}}`);
  const table = tex.slice(tex.lastIndexOf("\\begin{tabular}", end), end);
  const numbers = /\{(?:Total \()?(\d+)\)?\}\s*&\s*SecureBoost\s*&([\d.&\s]+)\\\\\s*&\s*Proposed\s*&([\d.&\s]+)\\\\/g;
  const accuracy = (text: string): Accuracy => {
    const [aucTrain, aucTest, ksTrain, ksTest] = text.split("&").map(Number);
    return { aucTrain, aucTest, ksTrain, ksTest };
  };
  return [...table.matchAll(numbers)].map(([, at, unbatched, batched]) => ({
    at: Number(at),
    unbatched: accuracy(unbatched),
    batched: accuracy(batched),
  }));
}

describe.skipIf(absent)("the paper's numbers", () => {
  const tex = absent ? "" : readFileSync(path, "utf8");

  it.each([
    ["keys", "keylen", 4],
    ["samples", "samplesize", 3],
    ["rounds", "round", 5],
  ] as const)("%s are as printed", (name, label, count) => {
    const rows = tableRows(tex, label);
    expect(rows).toHaveLength(count);
    expect(paperTables[name]).toEqual(rows);
  });

  it("has the sizes of Table I and the ranges of its text", () => {
    const { default: credit, giveme } = paperDatasets;
    expect(tex).toMatch(
      new RegExp(`Default & ${credit.trainRows} &\\s+${credit.testRows} & ${credit.active.length} & `),
    );
    expect(tex).toMatch(
      new RegExp(
        `Giveme\\} & ${giveme.trainRows} &\\s+${giveme.testRows} & ${giveme.active.length} & ${giveme.passive.length} `,
      ),
    );
    expect(tex).toContain(
      "from $75\\%$ to $55\\%$ of the time with SecureBoost, " +
        "while the time of building boosting trees is only from $60\\%$ to $50\\%$",
    );
  });
});

it("our columns are distinct, and 23 are all that the Default table has", () => {
  const { default: credit, giveme } = paperDatasets;
  expect(new Set([...credit.active, ...credit.passive]).size).toBe(23);
  expect(new Set([...giveme.active, ...giveme.passive]).size).toBe(10);
});
