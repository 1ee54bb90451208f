/**
 * SHA-256 of a table as it was trained on: ids, column names, float32 values and labels, in their order. It lets an
 * auditor check that a run used the data that it is said to have used; it says nothing about a value.
 */
import { createHash } from "node:crypto";
import type { PartyTable } from "./dataset.ts";

export function tableDigest({ ids, featureNames, features, labels }: PartyTable): string {
  const hash = createHash("sha256");
  // Lengths in front, so that no two tables give the same bytes.
  const text = (value: string): void => void hash.update(`${Buffer.byteLength(value)}:`).update(value);
  text(`tandem-table/1 ${ids.length} ${featureNames.length} ${labels === null ? 0 : 1}`);
  text(ids.map((id) => `${id.length}:${id}`).join(""));
  featureNames.forEach((name, i) => {
    text(name);
    hash.update(littleEndian(features[i], 4));
  });
  if (labels !== null) hash.update(littleEndian(labels, 8));
  return hash.digest("hex");
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
