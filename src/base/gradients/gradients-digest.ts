/** A digest of gradients on the grid, and of the instances that are summed: equal for equal questions. */
import { createHash } from "node:crypto";
import type { QuantisedGradients } from "./quantised-gradients.ts";

/** @param sample null: all instances @param context what else the gradients depend on */
export function gradientsDigest(
  { instanceCount, grids, columns }: QuantisedGradients,
  sample: Uint32Array | null,
  context = "",
): string {
  const hash = createHash("sha256").update(
    `tandem/gradients\n${context}\n${JSON.stringify(grids)}\n${instanceCount}\n`,
  );
  for (const column of columns) hash.update(bytesOf(column));
  if (sample !== null) hash.update(`sample/${sample.length}\n`).update(bytesOf(sample));
  return hash.digest("hex");
}

/** A digest of what is encrypted at a root where members are hidden: zeros for instances that are not sampled. */
export function rootDigest(
  { columns, instanceCount }: QuantisedGradients,
  outputs: readonly number[],
  sample: Uint32Array | null,
): string {
  const hash = createHash("sha256").update("tandem/root\n");
  for (const output of outputs)
    for (const column of [columns[2 * output], columns[2 * output + 1]]) {
      const summed = sample === null ? column : new Float64Array(instanceCount);
      sample?.forEach((instance) => (summed[instance] = column[instance]));
      hash.update(bytesOf(summed));
    }
  return hash.digest("hex");
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
