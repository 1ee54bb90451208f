/** Schemas of what events of training have in common. */
import * as z from "zod/mini";
import type { Immutable } from "../../base/immutable.ts";
import { number, text } from "../fields.ts";

/** NaN, for example the AUC of one class, is null in JSON; formatMetric shows both alike. */
const metric = z.custom<number>((value: unknown) => value === null || Number.isFinite(value));
export const metrics = z.record(text, metric);
/** Of scheme/scheme.ts. */
export const operationCounts = z.object({
  encryptions: number,
  additions: number,
  decryptions: number,
  gradientCiphertexts: number,
  candidateCiphertexts: number,
});
/** Payload bytes. */
export const traffic = z.object({ activeToPassive: number, passiveToActive: number });

export type Metrics = Immutable<z.infer<typeof metrics>>;
