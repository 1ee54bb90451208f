/**
 * SHA-256 of tables as they were trained on: ids, column names, float32 values or categories, and labels, in their
 * order. Two tables with the same digest train the same model; an auditor can check that a job used the data that it is
 * said to have used. It says nothing about a value.
 */
import { createHash } from "node:crypto";
import { mapColumns } from "../base/row-columns.ts";
import { hashTexts } from "../base/text/hash-texts.ts";
import { categoryNamesOf, type PartyTable } from "./dataset.ts";

/** @returns lowercase hex */
export function tableDigest(...tables: readonly (PartyTable | null)[]): string {
  const hash = createHash("sha256");
  // Each text is preceded by its length, so none can run on.
  const text = (value: string): void => void hash.update(`${Buffer.byteLength(value)}:`).update(value);
  for (const table of tables) {
    hash.update(table === null ? "none\n" : headOf(table));
    if (table === null) continue;
    table.featureNames.forEach(text);
    hashTexts(hash, table.ids);
    const names = categoryNamesOf(table);
    table.features.forEach((feature, i) => {
      const categories = names[i];
      if (categories === null) hash.update(littleEndian(feature, 4));
      // Names, not codes: those depend on what was read before.
      else for (const code of feature) void (Number.isNaN(code) ? hash.update("-:") : text(categories[code]));
    });
    if (table.labels !== null) hash.update(littleEndian(table.labels, 8));
    table.classes?.forEach(text);
    if (table.weights) hash.update(littleEndian(table.weights, 8));
    mapColumns(table.rowColumns ?? {}, (column) => hash.update(littleEndian(column, 8)));
  }
  return hash.digest("hex");
}

/** How much of everything follows, which features have a monotone constraint, are categorical, or interact. */
function headOf(table: PartyTable): string {
  const { ids, featureNames, labels, weights, monotone = {}, interactions = {} } = table;
  const names = categoryNamesOf(table);
  const signs = featureNames.map((name, i) => (names[i] === null ? (monotone[name] ?? 0) : "c"));
  const sizes = `${ids.length}/${featureNames.length}`;
  const more = Object.keys(mapColumns(table.rowColumns ?? {}, () => "")).map((name) => `,${name}`);
  const extra = `${labels === null ? "" : "labels"}/${weights ? "weights" : ""}${more.join("")}`;
  const groups = Object.entries(interactions).map(([group, names]) => [group, ...names]);
  const grouped = groups.length === 0 ? "" : `/${JSON.stringify(groups)}`;
  return `tandem/table/${sizes}/${extra}/${signs.join()}${grouped}\n`;
}

/** The bytes of numbers in one order on every machine; every NaN is the same missing value. */
function littleEndian(values: Float32Array | Float64Array, width: 4 | 8): Uint8Array {
  const bytes = new Uint8Array(values.length * width);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = Number.isNaN(values[i]) ? NaN : values[i];
    if (width === 4) view.setFloat32(i * 4, value, true);
    else view.setFloat64(i * 8, value, true);
  }
  return bytes;
}
