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
    hash.update(table === null ? "none\n" : headOf(table));
    if (table === null) continue;
    table.featureNames.forEach(text);
    table.ids.forEach(text);
    table.features.forEach(numbers);
    if (table.labels !== null) numbers(table.labels);
    if (table.weights) numbers(table.weights);
  }
  return hash.digest("hex");
}

/** How much of everything follows, and which features have a monotone constraint. */
function headOf({ ids, featureNames, labels, weights, monotone = {} }: PartyTable): string {
  const signs = featureNames.map((name) => monotone[name] ?? 0);
  return `tandem/table/${ids.length}/${featureNames.length}/${labels === null ? "" : "labels"}/${weights ? "weights" : ""}/${signs.join()}\n`;
}
