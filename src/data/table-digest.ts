/**
 * SHA-256 of tables as they were trained on: ids, column names, float32 values or categories, and labels, in their
 * order. Two tables with the same digest train the same model; an auditor can check which data a job used. It reveals
 * no value.
 */
import { createHash, type Hash } from "node:crypto";
import { endianness } from "node:os";
import { mapColumns } from "../base/rows/row-columns.ts";
import { atOnce, inTurns } from "../base/scheduling/event-loop-slice.ts";
import { hashTexts } from "../base/text/hash-texts.ts";
import { categoryNamesPerFeature, type PartyTable } from "./dataset.ts";
import { noConstraints } from "./feature-constraints.ts";

const numbersPerStep = 1 << 16;
const categoriesPerStep = 1 << 10;

/** @returns lowercase hex */
export function tableDigest(...tables: readonly (PartyTable | null)[]): string {
  const hash = createHash("sha256");
  for (const table of tables) atOnce(hashTable(hash, table));
  return hash.digest("hex");
}

/** Digests of the first table, of the first two, and so on; yields to the event loop. */
export async function tableDigestsInTurns(...tables: readonly (PartyTable | null)[]): Promise<string[]> {
  const hash = createHash("sha256");
  const digests: string[] = [];
  for (const table of tables) {
    await inTurns(hashTable(hash, table));
    digests.push(hash.copy().digest("hex"));
  }
  return digests;
}

function* hashTable(hash: Hash, table: PartyTable | null): Generator<void> {
  hash.update(table === null ? "none\n" : headOf(table));
  if (table === null) return;
  yield* hashTexts(hash, table.featureNames);
  yield* hashTexts(hash, table.ids);
  const names = categoryNamesPerFeature(table);
  for (const [i, feature] of table.features.entries()) {
    const categories = names[i];
    if (categories === null) yield* hashNumbers(hash, feature);
    else yield* hashCategories(hash, feature, categories);
  }
  if (table.labels !== null) yield* hashNumbers(hash, table.labels);
  yield* hashTexts(hash, table.classes ?? []);
  for (const column of Object.values(mapColumns(table.rowColumns ?? {}, (column) => column)))
    yield* hashNumbers(hash, column);
}

/** Names, not codes: those depend on what was read before. */
function* hashCategories(hash: Hash, codes: Float32Array, names: readonly string[]): Generator<void> {
  const texts = names.map((name) => `${Buffer.byteLength(name)}:${name}`);
  for (let first = 0; first < codes.length; first += categoriesPerStep) {
    let step = "";
    for (const code of codes.subarray(first, first + categoriesPerStep))
      step += Number.isNaN(code) ? "-:" : texts[code];
    hash.update(step);
    yield;
  }
}

function* hashNumbers(hash: Hash, values: Float32Array | Float64Array): Generator<void> {
  for (let first = 0; first < values.length; first += numbersPerStep) {
    hash.update(littleEndian(values.subarray(first, first + numbersPerStep)));
    yield;
  }
}

/** How much of everything follows, which features have a monotone constraint, are categorical, or interact. */
function headOf(table: PartyTable): string {
  const { ids, featureNames, labels, constraints = noConstraints } = table;
  const { monotone_constraints: monotone, interaction_constraints: interactions } = constraints;
  const names = categoryNamesPerFeature(table);
  const signs = featureNames.map((name, i) => (names[i] === null ? (monotone[name] ?? 0) : "c"));
  const sizes = `${ids.length}/${featureNames.length}`;
  // As version 0.6 wrote it, so that digests of the same table stay the same.
  const more = mapColumns(table.rowColumns ?? {}, (_, name) => (name === "weight" ? "weights" : `,${name}`));
  const extra = `${labels === null ? "" : "labels"}/${Object.values(more).join("")}`;
  const groups = Object.entries(interactions).map(([group, names]) => [group, ...names]);
  const grouped = groups.length === 0 ? "" : `/${JSON.stringify(groups)}`;
  return `tandem/table/${sizes}/${extra}/${signs.join()}${grouped}\n`;
}

/** The bytes of numbers in one order on every machine; every NaN is the same missing value. */
function littleEndian(values: Float32Array | Float64Array): Uint8Array {
  const copy = values.slice();
  for (let i = 0; i < copy.length; i++) if (Number.isNaN(copy[i])) copy[i] = NaN;
  const bytes = Buffer.from(copy.buffer);
  if (endianness() === "LE") return bytes;
  return copy instanceof Float32Array ? bytes.swap32() : bytes.swap64();
}
