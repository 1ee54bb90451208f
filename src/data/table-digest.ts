/** A digest over everything in a table: two tables with the same digest train the same model. */
import { createHash } from "node:crypto";
import type { PartyTable } from "./dataset.ts";

/** @returns lowercase hex */
export function tableDigest(...tables: readonly (PartyTable | null)[]): string {
  const hash = createHash("sha256");
  // Each text is preceded by its length, so none can run on.
  const text = (value: string): void => void hash.update(`${Buffer.byteLength(value)}:`).update(value);
  const numbers = (values: Float32Array | Float64Array): void => void hash.update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  for (const table of tables) {
    hash.update(table === null ? "none\n" : `tandem/table/${table.ids.length}/${table.featureNames.length}/${table.labels === null ? "" : "labels"}\n`);
    if (table === null) continue;
    table.featureNames.forEach(text);
    table.ids.forEach(text);
    table.features.forEach(numbers);
    if (table.labels !== null) numbers(table.labels);
  }
  return hash.digest("hex");
}
