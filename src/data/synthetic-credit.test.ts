import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { columnIndex, idColumn, labelColumn, numericColumn } from "./columns.ts";
import type { CsvTable } from "./csv-table.ts";
import { syntheticCredit, type SyntheticParty } from "./synthetic-credit.ts";

const credit = syntheticCredit({ rows: 10_000, seed: 7 });
const parties: [string, SyntheticParty][] = Object.entries(credit);

function column(party: SyntheticParty, name: string): Float32Array {
  return party.table.features[party.table.featureNames.indexOf(name)];
}

function mean(values: Iterable<number>): number {
  const all = [...values];
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

describe("syntheticCredit", () => {
  it("gives three parties the same people and 24 features in all", () => {
    expect(parties.map(([name]) => name)).toEqual(["bank", "retailer", "telecom"]);
    for (const [, { table }] of parties) {
      expect(table.ids).toEqual(credit.bank.table.ids);
      expect(table.featureNames.length).toBe(8);
    }
    expect([...credit.bank.table.ids].slice(121, 123)).toEqual(["C000122", "C000123"]);
    expect(new Set(parties.flatMap(([, { table }]) => table.featureNames)).size).toBe(24);
    expect(credit.retailer.table.labels).toBeNull();
    expect(credit.telecom.table.labels).toBeNull();
  });

  it.each([1, 2, 3, 7])("has between 15 and 22 % defaults with seed %d", (seed) => {
    const { labels } = syntheticCredit({ rows: 5000, seed }).bank.table;
    const fraction = mean(labels ?? []);
    expect(fraction).toBeGreaterThan(0.15);
    expect(fraction).toBeLessThan(0.22);
  });

  it("has missing values at each party, and prepaid customers have no bill", () => {
    for (const [, { table }] of parties) {
      const fractions = table.features.map((feature) =>
        mean([...feature].map((value) => (Number.isNaN(value) ? 1 : 0))),
      );
      expect(fractions.filter((fraction) => fraction > 0.01).length).toBe(2);
      expect(Math.max(...fractions)).toBeLessThan(0.4);
    }
    const bill = column(credit.telecom, "monthly_bill");
    column(credit.telecom, "prepaid").forEach((prepaid, row) => {
      if (prepaid === 1) expect(bill[row]).toBeNaN();
    });
  });

  it("has plausible marginals: skewed money, zero-inflated counts, fractions within [0, 1]", () => {
    const income = column(credit.bank, "income").toSorted();
    expect(income[5000]).toBeGreaterThan(1500);
    expect(income[5000]).toBeLessThan(3500);
    expect(mean(income)).toBeGreaterThan(income[5000] * 1.05);
    for (const [party, name] of [
      ["bank", "late_payments"],
      ["retailer", "instalment_purchases"],
      ["telecom", "late_bill_days"],
      ["telecom", "roaming_minutes"],
    ] as const) {
      const values = column(credit[party], name);
      expect(
        values.every((value) => Number.isInteger(value) && value >= 0),
        name,
      ).toBe(true);
      expect(mean(values.map((value) => (value === 0 ? 1 : 0))), name).toBeGreaterThan(0.5);
    }
    for (const [, { table }] of parties) {
      table.featureNames.forEach((name, i) => {
        if (name.endsWith("_share"))
          expect(
            table.features[i].every((value) => Number.isNaN(value) || (value >= 0 && value <= 1)),
            name,
          ).toBe(true);
      });
    }
  });

  it("gives every party features that predict the label", () => {
    const labels = credit.bank.table.labels ?? new Float64Array();
    const gap = (party: SyntheticParty, name: string) => {
      const values = column(party, name);
      return mean(values.filter((_, row) => labels[row] === 1)) / mean(values.filter((_, row) => labels[row] === 0));
    };
    expect(gap(credit.bank, "card_utilisation")).toBeGreaterThan(1.1);
    expect(gap(credit.retailer, "instalment_purchases")).toBeGreaterThan(1.5);
    expect(gap(credit.telecom, "late_bill_days")).toBeGreaterThan(1.5);
  });

  it.each(parties)("has the same numbers in the text cells (%s)", (_, { table, csv }) => {
    const read: CsvTable = {
      path: "x.csv",
      names: csv.names,
      columns: csv.columns,
      rowCount: table.ids.length,
      lineOf: (row) => row + 2,
    };
    expect(idColumn(read, "id")).toEqual(table.ids);
    table.featureNames.forEach((name, i) => {
      expect(numericColumn(read, columnIndex(read, name), new Set()), name).toEqual(table.features[i]);
    });
    expect(csv.names.includes("default")).toBe(table.labels !== null);
    if (table.labels !== null) expect(labelColumn(read, columnIndex(read, "default"))).toEqual(table.labels);
  });

  it("is pinned by its seed, down to the last cell", () => {
    const text = JSON.stringify(parties.map(([, { csv }]) => csv));
    expect(createHash("sha256").update(text).digest("hex").slice(0, 16)).toBe("8fbd6b08f85a8a00");
    expect(syntheticCredit({ rows: 50, seed: 8 }).bank.csv).not.toEqual(
      syntheticCredit({ rows: 50, seed: 7 }).bank.csv,
    );
  });
});
