/** What one company writes down about itself: read once, checked strictly, trusted from then on. */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { TandemError } from "../base/error.ts";
import { codecParameters, resolveParameters, speedParameters, trainingParameters } from "../base/parameters.ts";

const fingerprint = z.string().regex(/^[0-9a-f]{64}$/, "a SHA-256 fingerprint in lowercase hex");
const address = z.strictObject({ host: z.string().min(1), port: z.number().int().min(0).max(65535) });

const tls = z.strictObject({ authority: z.string(), certificate: z.string(), key: z.string() });

const table = z.strictObject({
  /** The CSV file to train on, and optionally one whose rows are predicted after training. */
  train: z.string(),
  predict: z.string().optional(),
  id: z.string(),
  features: z.array(z.string()),
  missing: z.array(z.string()).default([]),
});

const parameters = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])).default({});

const passiveConfig = z.strictObject({
  name: z.string().min(1),
  job: z.string(),
  listen: address,
  tls,
  active: z.strictObject({ fingerprint }),
  data: table,
  training: parameters,
  codec: parameters,
  keyBits: z.number().int(),
  threads: z.number().int().min(1).max(256).optional(),
  output: z.strictObject({ share: z.string() }),
});

const activeConfig = z.strictObject({
  name: z.string().min(1),
  job: z.string(),
  tls,
  passives: z.array(z.strictObject({ name: z.string().min(1), ...address.shape, fingerprint })).min(1),
  data: table.extend({ label: z.string(), positive: z.string().optional() }),
  training: parameters,
  codec: parameters,
  speed: parameters,
  keyBits: z.number().int(),
  insecureKey: z.boolean().default(false),
  threads: z.number().int().min(1).max(256).optional(),
  output: z.strictObject({ share: z.string(), predictions: z.string().optional() }),
});

export type PassiveConfigInput = z.input<typeof passiveConfig>;
export type ActiveConfigInput = z.input<typeof activeConfig>;
export type PassiveConfig = z.output<typeof passiveConfig>;
export type ActiveConfig = z.output<typeof activeConfig>;
export type DataConfig = z.output<typeof table>;

export function readPassiveConfig(path: string): Promise<PassiveConfig> {
  return readConfig(path, passiveConfig);
}

export function readActiveConfig(path: string): Promise<ActiveConfig> {
  return readConfig(path, activeConfig);
}

/** Hyper-parameters of a config, checked against the one table of them. */
export function configParameters(config: Pick<ActiveConfig, "training" | "codec"> & Partial<Pick<ActiveConfig, "speed">>) {
  return {
    training: resolveParameters(trainingParameters, config.training),
    codec: resolveParameters(codecParameters, config.codec),
    speed: resolveParameters(speedParameters, config.speed ?? {}),
  };
}

async function readConfig<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new TandemError(cause instanceof SyntaxError ? "FILE_FORMAT" : "FILE_UNREADABLE", `${path} is not a readable JSON config`, { cause });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new TandemError("FILE_FORMAT", `${path}: ${issue.path.join(".")}: ${issue.message}`);
}
