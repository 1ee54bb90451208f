import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cutCreditTable, readCreditTable, syntheticCreditTable } from "./credit-tables.ts";
import { paperDatasets } from "./paper-datasets.ts";

const { default: credit, giveme } = paperDatasets;
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tandem-data-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A file like cs-training.csv: an unnamed id column, NA for what is missing. */
function givemeText(rows: number, change = ""): string {
  const names = ["", giveme.label, ...giveme.passive, ...giveme.active];
  const lines = Array.from({ length: rows }, (_, i) =>
    [i + 1, i % 3 === 0 ? 1 : 0, ...names.slice(2).map((_name, c) => (c === 4 && i === 1 ? "NA" : i * (c + 1)))].join(
      ",",
    ),
  );
  return `${[names.join(","), ...lines].join("\n")}${change}\n`;
}

describe("the public files", () => {
  it("are found by name, plain or compressed, in folders below", async () => {
    mkdirSync(join(folder, "kaggle", "giveme"), { recursive: true });
    writeFileSync(join(folder, "kaggle", "giveme", "cs-training.csv.gz"), gzipSync(givemeText(30)));
    const table = await readCreditTable(giveme, folder);
    expect(table.rowCount).toBe(30);
    expect(table.source).toBe("cs-training.csv.gz"); // no path of this machine
    expect(table.parties.map(({ featureNames }) => featureNames)).toEqual([giveme.active, giveme.passive]);
    expect(table.parties[0].labels?.[3]).toBe(1);
    expect(table.parties[1].features[4][1]).toBeNaN();
    writeFileSync(join(folder, "cs-training.csv"), givemeText(20));
    expect((await readCreditTable(giveme, folder)).rowCount).toBe(20);
  });

  it("say where to get them if they are not there", async () => {
    await expect(readCreditTable(credit, folder)).rejects.toThrow(
      /holds no UCI_Credit_Card\.csv or UCI_Credit_Card\.csv\.gz .*docs\/data\.md.*--synthetic/,
    );
    await expect(readCreditTable(credit, join(folder, "nowhere"))).rejects.toThrow("holds no UCI_Credit_Card.csv");
  });

  it("have another digest when a cell is another", async () => {
    writeFileSync(join(folder, "cs-training.csv"), givemeText(20));
    const before = (await readCreditTable(giveme, folder)).digest;
    writeFileSync(join(folder, "cs-training.csv"), givemeText(20, "\n21,0,1,2,3,4,5,6,7,8,9,10"));
    expect((await readCreditTable(giveme, folder)).digest).not.toBe(before);
  });
});

describe("cutting", () => {
  it("draws the asked numbers of rows, each once, for both parties alike", () => {
    const table = syntheticCreditTable(credit, 200, 7);
    expect(table.parties.map(({ featureNames }) => featureNames.length)).toEqual([5, 18]);
    const { train, test, trainCells } = cutCreditTable(table, { train: 120, test: 50 }, 7);
    expect(train.map(({ ids }) => ids.length)).toEqual([120, 120]);
    expect(train[0].ids).toEqual(train[1].ids);
    expect([...train[0].ids].filter((id) => [...test[0].ids].includes(id))).toEqual([]);
    expect(trainCells[0].names).toEqual(["tandem_id", ...table.parties[0].featureNames, "tandem_label"]);
    expect(trainCells[1].columns[0]).toEqual(train[0].ids);
  });
});
