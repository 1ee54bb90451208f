/**
 * Contributions of a passive party's own features, which the active party sends where both sides agree. The active
 * party has values per tree and tag; only the passive party knows which tags of different trees are one feature, and
 * sums them.
 *
 * @reveals passive: where both sides agree, what its own features add to the scores of people who are explained,
 *   tree by tree
 */
import { TandemError } from "../base/error.ts";
import type { OwnSplit } from "../protocol/passive/role.ts";
import { bySplitOrder } from "../protocol/passive/split-outcomes.ts";
import { type FeatureTags, featureTags } from "./feature-tags.ts";

/** A value that is sent: of a tag in a tree, for one output. */
export interface ContributionPlace {
  readonly tree: number;
  readonly tag: number;
  readonly output: number;
}

export interface OutputShape {
  readonly outputCount: number;
  /** One per output, interleaved; or 1, whose leaves have a weight for each output. */
  readonly treesPerRound: number;
}

const valueBytes = 8;

/** The order of an instance's values, which both sides derive. @param trees of each split, ascending */
export function contributionPlaces(
  tags: FeatureTags,
  trees: readonly number[],
  shape: OutputShape,
): ContributionPlace[] {
  const { outputCount, treesPerRound } = shape;
  const places: ContributionPlace[] = [];
  let [tree, next] = [-1, 0];
  tags.forEach((tag, split) => {
    if (trees[split] !== tree) [tree, next] = [trees[split], 0];
    if (tag < next) return;
    next = tag + 1;
    const outputs = treesPerRound === outputCount ? [tree % outputCount] : Array.from({ length: outputCount }).keys();
    for (const output of outputs) places.push({ tree, tag, output });
  });
  return places;
}

/** Per row its values in that order. */
export function contributionBytes(values: Float64Array): Uint8Array {
  const bytes = new Uint8Array(values.length * valueBytes);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setFloat64(i * valueBytes, value, true));
  return bytes;
}

export interface OwnContributions {
  /** The party's features that the model asks about, once per output. */
  readonly names: readonly string[];
  /** Per row a value per name. */
  readonly values: Float64Array;
}

/**
 * Sums per own feature.
 * @throws TandemError PROTOCOL_STATE if the values are not about exactly these splits and this many ids
 */
export function ownContributions(
  splits: readonly Pick<OwnSplit, "tree" | "node" | "featureName">[],
  shape: OutputShape,
  bytes: Uint8Array,
  idCount: number,
): OwnContributions {
  const { outputCount, treesPerRound } = shape;
  if (outputCount < 1 || (treesPerRound !== 1 && treesPerRound !== outputCount))
    throw new TandemError("PROTOCOL_STATE", "contributions have outputs that the model does not have");
  const ordered = splits.toSorted(bySplitOrder);
  const tags = featureTags(ordered);
  const trees = ordered.map(({ tree }) => tree);
  const places = contributionPlaces(tags, trees, shape);
  if (bytes.length !== idCount * places.length * valueBytes)
    throw new TandemError(
      "PROTOCOL_STATE",
      `contributions: ${bytes.length} bytes for ${idCount} ids of ${places.length} values each`,
    );
  const features = [...new Set(ordered.map(({ featureName }) => featureName))].sort();
  const featureOf = new Map(ordered.map(({ tree, featureName }, i) => [`${tree}/${tags[i]}`, featureName]));
  const columns = places.map(
    ({ tree, tag, output }) => output * features.length + features.indexOf(featureOf.get(`${tree}/${tag}`) ?? ""),
  );
  const width = features.length * outputCount;
  const values = new Float64Array(idCount * width);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 0, at = 0; row < idCount; row++)
    for (const column of columns) {
      const value = view.getFloat64(at, true);
      if (!Number.isFinite(value)) throw new TandemError("PROTOCOL_STATE", "contributions are not numbers");
      values[row * width + column] += value;
      at += valueBytes;
    }
  const names = Array.from({ length: outputCount }).flatMap((_, k) =>
    features.map((feature) => (outputCount === 1 ? feature : `${feature}_${k}`)),
  );
  return { names, values };
}
