/** Generated people, and the tables in which companies hold parts of them. */
import { SeededRandom } from "../../src/base/random.ts";

export interface Person {
  readonly id: string;
  readonly values: readonly string[];
  readonly label: string;
}

/** People whose label depends on all six values; the same seed gives the same people. */
export function makePeople(count: number, seed: string): Person[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, i) => {
    const values = Array.from({ length: 6 }, () => random.normal());
    const risk = values[0] - values[2] + (values[4] > 0 ? values[1] : -values[5]);
    const cells = values.map((value) => (random.uniform() < 0.05 ? "" : value.toFixed(4)));
    return {
      id: `zq${1000 + i}x`,
      values: cells,
      label: random.uniform() < 1 / (1 + Math.exp(-2 * risk)) ? "defaulter" : "payer",
    };
  });
}

export function shuffled<T>(items: readonly T[], seed: string): T[] {
  return Array.from(new SeededRandom(seed).permutation(items.length), (i) => items[i]);
}

/** A company's table. The active party's has a label. */
export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The active party's table: ids, these values as `<name>_<column>`, and the label as `outcome`. */
export function labelledTable(people: readonly Person[], columns: readonly number[], name = "bank"): Table {
  const { header, rows } = featureTable(people, columns, name);
  return { header: [...header, "outcome"], rows: rows.map((row, i) => [...row, people[i].label]) };
}

/** A passive party's table: ids, and these values as `<name>_<column>`. */
export function featureTable(people: readonly Person[], columns: readonly number[], name = "shop"): Table {
  return {
    header: ["id", ...columns.map((column) => `${name}_${column}`)],
    rows: people.map(({ id, values }) => [id, ...columns.map((column) => values[column])]),
  };
}

export function csvText({ header, rows }: Table): string {
  const quoted = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return `${[header, ...rows].map((row) => row.map(quoted).join(",")).join("\n")}\n`;
}
