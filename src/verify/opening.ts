/**
 * An opening: all inputs that a party committed to, and its evidence of the job's trees. The active party's contains
 * its labels and the job's private key, a passive party's its binned columns and its secrets. It is only for an auditor
 * whom both sides trust with it (mode 0600).
 */
import * as z from "zod";
import { mapColumns, rowColumnNames } from "../base/rows/row-columns.ts";
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import { chooseScheme } from "../scheme/registry.ts";
import { resolveSections } from "../party/resolve-job.ts";
import { presentFacts } from "../protocol/chain/removed-facts.ts";
import { type Job, mapSections, valuesIn } from "../protocol/job.ts";
import { TrainingRows } from "../gbdt/rows/training-rows.ts";
import { treeEvidenceSchema, introductionSchema, openedSchema } from "../store/evidence-files.ts";
import { signedAnswerSchema } from "../store/answer-evidence.ts";
import { signedGradientsSchema } from "../store/round-evidence.ts";
import { readSealed, type SealedKind, writeSealed } from "../store/sealed-file.ts";
import { bytesFrom, doublesFrom, rowsFrom, toBase64 } from "../store/stored-numbers.ts";
import { TandemError } from "../base/error.ts";

const index = z.number().int().nonnegative();

const featureSchema = z.strictObject({
  name: z.string(),
  /** Float32. */
  thresholds: z.base64(),
  categories: z.array(z.string()).optional(),
  oneHot: z.boolean().optional(),
  /** One float64. */
  lowest: z.base64(),
  binCount: index,
  hasMissing: z.boolean(),
  missingLeftLast: z.boolean().optional(),
  monotone: z.number(),
  groups: index.optional(),
  /** Uint16. */
  bins: z.base64(),
});

const values = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly(), z.array(z.number()).readonly()]),
);

const openingSchema = z.strictObject({
  role: z.enum(["active", "passive"]),
  name: z.string(),
  job: z.string(),
  run: z.string(),
  own: introductionSchema,
  opened: openedSchema,
  /** Certificates and commitments that the others sent at the handshake. */
  peers: z.record(z.string(), introductionSchema),
  features: z.array(featureSchema),
  /** The first tree that the parties grew together. */
  firstTree: index,
  trees: z.array(treeEvidenceSchema),
  /** Of a passive party only: all gradients that the active party has signed, in unfinished trees too. */
  gradients: z.array(signedGradientsSchema).default([]),
  /** Of the active party only: the answers about nodes that passive parties have signed, in unfinished trees. */
  answers: z.array(signedAnswerSchema).default([]),
  /** Of the active party only. */
  active: z
    .strictObject({
      labels: z.base64(),
      weights: z.base64().nullable(),
      /** Left out by earlier versions. */
      columns: z.partialRecord(z.enum(rowColumnNames), z.base64()).default({}),
      validationRows: z.base64().nullable(),
      folds: z.array(z.base64()),
      passives: z.array(z.string()),
      parameters: z.strictObject({ ...mapSections(() => values), speed: values.optional() }), // speed: up to 0.6
      scheme: z.string(),
      keyBits: index,
      interactionGroups: z.string().optional(),
    })
    .optional(),
});
export type Opening = z.infer<typeof openingSchema>;
export type StoredFeature = z.infer<typeof featureSchema>;

const kind: SealedKind<Opening> = {
  format: "tandem-opening/2",
  name: "opening",
  noun: "an opening",
  schema: openingSchema,
  code: "FILE_FORMAT",
  earlier: { format: /^tandem-opening\/1$/, advice: "Check the job with the version of Tandem that trained it" },
};

/** @throws TandemError FILE_UNWRITABLE */
export function writeOpening(path: string, opening: Opening): Promise<void> {
  return writeSealed(path, kind, opening);
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readOpening(path: string): Promise<Opening> {
  const opening = await readSealed(path, kind);
  if (opening === null) throw new TandemError("FILE_UNREADABLE", `${path}: the opening does not exist`);
  presentFacts(opening.opened.facts);
  return opening;
}

export function storedFeature(feature: BinnedFeature): StoredFeature {
  const { name, thresholds, categories, oneHot, lowest, binCount, monotone = 0, groups, bins } = feature;
  return {
    name,
    thresholds: toBase64(bytesOf(thresholds)),
    ...(categories === undefined ? {} : { categories: [...categories] }),
    ...(oneHot === undefined ? {} : { oneHot }),
    lowest: toBase64(Float64Array.of(lowest)),
    binCount,
    ...candidatesWithMissing(feature),
    monotone,
    ...(groups === undefined ? {} : { groups }),
    bins: toBase64(bytesOf(bins)),
  };
}

export function featureFrom(stored: StoredFeature): BinnedFeature {
  const { name, thresholds, categories, oneHot, lowest, binCount, monotone, groups, bins } = stored;
  return {
    name,
    thresholds: new Float32Array(bytesFrom(thresholds).buffer),
    ...(categories === undefined ? {} : { categories }),
    ...(oneHot === undefined ? {} : { oneHot }),
    lowest: doublesFrom(lowest)[0],
    binCount,
    ...candidatesWithMissing(stored),
    monotone,
    ...(groups === undefined ? {} : { groups }),
    bins: new Uint16Array(bytesFrom(bins).buffer),
  };
}

function candidatesWithMissing({ hasMissing, missingLeftLast }: Pick<StoredFeature, "hasMissing" | "missingLeftLast">) {
  return { hasMissing, ...(missingLeftLast === undefined ? {} : { missingLeftLast }) };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

type StoredJob = Pick<NonNullable<Opening["active"]>, "parameters" | "scheme" | "keyBits" | "interactionGroups">;

export function storedJob(job: Job): StoredJob {
  const { interactionGroups } = job;
  return {
    parameters: mapSections((section) =>
      Object.fromEntries(
        Object.entries(valuesIn(job, section)).map(([name, value]) => [
          name,
          Array.isArray(value) ? [...value] : value,
        ]),
      ),
    ),
    scheme: job.scheme,
    keyBits: job.schemeParameters["keyBits"] ?? 0,
    ...(interactionGroups === "" ? {} : { interactionGroups }),
  };
}

/** @throws TandemError USAGE for values that no job can have */
export function jobIn(name: string, { parameters, scheme, keyBits, interactionGroups = "" }: StoredJob): Job<never> {
  return {
    name,
    ...resolveSections({ ...parameters, codec: { resolution_bits: parameters.codec["resolution_bits"] } }),
    ...chooseScheme(scheme, { keyBits, insecureKey: true }),
    interactionGroups,
    start: null,
  };
}

type StoredRows = Pick<NonNullable<Opening["active"]>, "labels" | "weights" | "columns" | "validationRows">;

export function storedRows({ labels, columns: { weight, ...columns }, validation }: TrainingRows): StoredRows {
  return {
    labels: toBase64(labels),
    weights: weight === undefined ? null : toBase64(weight),
    columns: mapColumns(columns, toBase64),
    validationRows: validation && toBase64(validation),
  };
}

export function rowsIn({ labels, weights, columns, validationRows }: StoredRows): TrainingRows {
  const stored = Object.entries({ ...(weights === null ? {} : { weight: weights }), ...columns });
  return new TrainingRows(doublesFrom(labels), {
    columns: Object.fromEntries(stored.map(([name, text]) => [name, doublesFrom(text)])),
    validation: validationRows === null ? null : rowsFrom(validationRows),
  });
}
