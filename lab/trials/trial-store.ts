/**
 * Results of trials as files, one per trial, so that a reproduction that was interrupted resumes where it stopped. A
 * file counts only for the same parameters, the same rows and the same program.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomically } from "../../src/base/files/atomic-file.ts";
import { TandemError } from "../../src/base/error.ts";
import { type TrialOutcome, type Repeat, type TrialSpec, trialCodec, trialName, trialTraining } from "./trial.ts";

const metrics = z.record(z.string(), z.number());
const repeatSchema: z.ZodType<Repeat> = z.object({
  totalSeconds: z.number(),
  secondsPerTree: z.number(),
  cpuSeconds: z.number(),
  metrics: z.object({ train: metrics, test: metrics }),
  counts: z.object({
    encryptions: z.number(),
    additions: z.number(),
    decryptions: z.number(),
    gradientCiphertexts: z.number(),
    candidateCiphertexts: z.number(),
  }),
  bytes: z.object({ activeToPassive: z.number(), passiveToActive: z.number() }),
  resolutions: z.array(z.number()),
  model: z.string(),
  commit: z.string(),
});
/** In a file a repeat is called a run. */
const outcomeSchema = z.union([z.object({ run: repeatSchema }), z.object({ overflow: z.string() })]);
const fileSchema = z.object({ name: z.string(), digest: z.string(), outcomes: z.array(outcomeSchema) });

export interface TrialContext {
  readonly dataDigest: string;
  readonly programDigest: string;
  readonly seed: number;
}

/** Changes with everything that can change the outcome, and with nothing else: not with the number of repeats. */
export function trialDigest(spec: TrialSpec, context: TrialContext): string {
  const { dataset, trainRows, testRows, keyBits } = spec;
  const parameters = {
    dataset,
    trainRows,
    testRows,
    keyBits,
    training: trialTraining(spec),
    codec: trialCodec(spec),
    shortcuts: spec.shortcuts,
  };
  return createHash("sha256")
    .update(JSON.stringify([parameters, context.dataDigest, context.programDigest, context.seed]))
    .digest("hex");
}

export class TrialStore {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws TandemError FILE_UNWRITABLE */
  static async open(folder: string): Promise<TrialStore> {
    try {
      await mkdir(folder, { recursive: true });
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be created`, { cause });
    }
    return new TrialStore(folder);
  }

  /** What has been measured of this trial; empty if nothing has, or under other circumstances. */
  async read(spec: TrialSpec, digest: string): Promise<readonly TrialOutcome[]> {
    try {
      const found = fileSchema.parse(JSON.parse(await readFile(this.#path(spec), "utf8")));
      return found.digest === digest ? found.outcomes.map(outcomeOf) : [];
    } catch {
      return []; // not there, or not ours: it will be measured
    }
  }

  async write(spec: TrialSpec, digest: string, outcomes: readonly TrialOutcome[]): Promise<void> {
    const contents: z.infer<typeof fileSchema> = { name: trialName(spec), digest, outcomes: outcomes.map(storedOf) };
    await writeFileAtomically(this.#path(spec), `${JSON.stringify(contents, null, 1)}\n`, 0o644);
  }

  #path(spec: TrialSpec): string {
    return join(this.#folder, `${trialName(spec)}.json`);
  }
}

function outcomeOf(stored: z.infer<typeof outcomeSchema>): TrialOutcome {
  return "run" in stored ? { repeat: stored.run } : stored;
}

function storedOf(outcome: TrialOutcome): z.infer<typeof outcomeSchema> {
  return "repeat" in outcome ? { run: outcome.repeat } : outcome;
}
