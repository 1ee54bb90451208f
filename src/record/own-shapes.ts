/**
 * The form of each line of own.jsonl as it is read back; see event-shapes.ts. Children of a tree's node stand after
 * it: walking down a tree always ends. Runs in browsers too.
 */
import {
  byField,
  count,
  either,
  flag,
  listOf,
  literal,
  number,
  objectOf,
  orNull,
  type Shape,
  text,
  tupleOf,
} from "../base/shape.ts";

const test = either(
  objectOf({ threshold: number, defaultLeft: flag }),
  objectOf({ categories: listOf(text), defaultLeft: flag }),
);
const both =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.every((shape) => shape(value));
const ownRule = both(test, objectOf({ featureName: text }));
const rule = both(
  objectOf({ owner: count }),
  // A rule with a feature's name is shown as a whole one.
  (value) => !Object.hasOwn(value as object, "featureName") || ownRule(value),
);
const node = byField(
  "kind",
  {
    leaf: objectOf({ weight: number, count }),
    split: objectOf({ left: count, right: count, gain: number, count, rule }),
  },
  "refused",
);
const tree: Shape = (value) =>
  listOf(node)(value) &&
  (value as readonly { readonly kind: string; readonly left: number; readonly right: number }[]).every(
    ({ kind, left, right }, id, nodes) =>
      kind === "leaf" || (left !== right && [left, right].every((child) => child > id && child < nodes.length)),
  ) &&
  (value as readonly unknown[]).length > 0;

const shares = objectOf({ outcomes: number, sums: number, scoring: number });
const exposure = objectOf(
  {
    learner: text,
    about: text,
    people: count,
    trees: count,
    depthMax: count,
    sumsPerPerson: number,
    noise: orNull(objectOf({ sigma: number, bitsPerColumnMax: number })),
    isEstimate: flag,
    columns: listOf(objectOf({ name: text, bins: count, bits: number, toldBits: shares, certain: shares })),
    labels: orNull(
      objectOf({ byTree: listOf(objectOf({ tree: count, auc: number })), modelAuc: number, riskiestTenth: number }),
    ),
    whatIf: listOf(
      objectOf({
        name: text,
        metric: orNull(objectOf({ name: text, value: number, change: number })),
        certain: orNull(number),
        scoringBits: orNull(number),
        labelAuc: orNull(number),
      }),
    ),
  },
  { hidesMembers: flag },
);

const contributions = objectOf({
  people: count,
  outputs: count,
  isByParty: flag,
  means: listOf(objectOf({ feature: orNull(text), party: text, mean: number })),
});

export const hasOwnShape = byField(
  "kind",
  {
    data: objectOf({ sha256: text }),
    tree: objectOf({ tree: count, nodes: tree }),
    "tree-weights": objectOf({ weights: listOf(number) }),
    "own-splits": objectOf({ tree: count, splits: listOf(both(ownRule, objectOf({ node: count }))) }),
    scores: objectOf({
      rows: literal("test"),
      curves: objectOf({
        roc: listOf(tupleOf(number, number)),
        cumulative: listOf(tupleOf(number, number, number)),
        ksAt: objectOf({ score: number, ks: number }),
        histogram: objectOf({
          min: number,
          max: number,
          negatives: listOf(number),
          positives: listOf(number),
        }),
      }),
    }),
    exposure: objectOf({ exposures: listOf(exposure) }),
    contributions: objectOf({ summary: contributions }),
  },
  "allowed",
);
