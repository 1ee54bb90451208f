/**
 * The form of each public event as it is read back from a record. A line of another form is passed over: a record may
 * come from another version, or from somebody who has changed it. Runs in browsers too.
 */
import {
  byField,
  count,
  countUpTo,
  either,
  flag,
  instant,
  listOf,
  literal,
  number,
  objectOf,
  orNull,
  recordOf,
  type Shape,
  text,
} from "../base/shape.ts";
import { crewShapes } from "./crew-view.ts";
import { phases } from "../protocol/phase.ts";

/** A metric that is no number is null in JSON. */
const metrics = recordOf(orNull(number));
const counts = objectOf({
  encryptions: number,
  additions: number,
  decryptions: number,
  gradientCiphertexts: number,
  candidateCiphertexts: number,
});
const traffic = objectOf({ activeToPassive: number, passiveToActive: number });
const failure = objectOf({ code: text, message: text });
const resultMetrics = objectOf({ train: metrics, test: orNull(metrics) }, { validation: metrics });
const processUse = { cpuSeconds: number, eventLoopMaxBlockMs: number, peakRssBytes: number };
/** A whole number that may be beyond what a double counts. */
const whole: Shape = (value) => Number.isInteger(value) && (value as number) >= 0;
const scale: Shape = (value) => number(value) && (value as number) >= 2 ** -128 && (value as number) <= 2 ** 128;
const slot = objectOf(
  { shift: number, alpha: scale, alphaMax: scale, r: countUpTo(128), padding: countUpTo(128) },
  { noise: objectOf({ largest: whole, excess: whole, max: whole, people: whole }) },
);
const span = objectOf({
  party: text,
  phase: literal(...phases),
  tree: count,
  level: count,
  from: number,
  to: number,
});
const disclosure = objectOf(
  { name: text, learner: text, about: text, what: text, atMost: orNull(number), unit: text },
  { note: text },
);
const layout = objectOf(
  {
    kind: text,
    codec: text,
    slots: listOf(slot),
    instanceCountMax: whole,
    plaintextsPerInstance: number,
    plaintextBits: number,
    sumsPerCiphertext: number,
    proof: listOf(text),
  },
  { scheme: text, keyBits: number, plaintextBitsMax: number, ciphertextBytes: number, hidesMembers: flag },
);
const ledger = recordOf(number);
const spent = objectOf({
  sumsPerPerson: number,
  noisySumsPerPerson: number,
  outcomesPerPerson: number,
  scoredPeople: number,
});

const kinds: Readonly<Record<string, Shape>> = {
  key: objectOf({ key: text, kernel: text }, { keyless: flag }),
  job: objectOf(
    {
      role: literal("active", "passive"),
      job: text,
      peers: listOf(text),
      treeCount: count,
      depthMax: count,
      parameters: recordOf(either(number, text, flag)),
      versions: objectOf({ tandem: text, protocol: number, node: text }),
    },
    { startTrees: count, warning: text, hidesMembers: flag, disclosures: listOf(disclosure) },
  ),
  data: objectOf({ data: objectOf({ trainRows: count, testRows: count, featureCount: count }) }),
  aligning: objectOf({ peer: text, job: text }),
  "alignment-progress": objectOf({ done: number, total: number }),
  aligned: objectOf({ job: text, commonCount: count }),
  joined: objectOf({ peer: text, featureCount: count }),
  resumed: objectOf({ job: text, trees: count, treeCount: count }),
  waiting: objectOf({ message: text }),
  resolution: objectOf({ scheme: text, asked: count, resolutionBits: count }),
  layout: objectOf({ layout }),
  tree: objectOf({ tree: count, treeCount: count, metrics }, { validation: metrics, counts }),
  progress: objectOf({
    tree: count,
    level: count,
    doing: recordOf(literal(...phases)),
    bytes: recordOf(traffic),
    spans: listOf(span),
  }),
  budget: objectOf({ peer: text, spent, limits: recordOf(number) }),
  ledger: objectOf({ peer: text, ledger }),
  "passive-tree": objectOf({ peer: text, tree: count, treeCount: count }, { counts }),
  "job-ended": objectOf({ job: text, failure: orNull(failure) }),
  "active-result": objectOf({
    result: objectOf(
      { trees: count, metrics: resultMetrics, phasesMs: recordOf(number), counts, bytes: traffic, ...processUse },
      { startTrees: count, alone: resultMetrics },
    ),
  }),
  "passive-result": objectOf({ result: objectOf({ counts, ...processUse }, { trees: count }) }),
  error: objectOf({ code: text, message: text }),
  ...crewShapes,
};

const stamped = objectOf({ type: text, at: instant, party: text });
const known = byField("type", kinds, "allowed");

/** Whether a line of a record can be taken into a view. */
export function hasEventShape(value: unknown): boolean {
  return stamped(value) && known(value);
}
