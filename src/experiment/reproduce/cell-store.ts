/**
 * Results of cells as files, one per cell, so that a run that was interrupted goes on where it stopped. A file counts
 * only for the same parameters, the same rows and the same program.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { TandemError } from "../../base/error.ts";
import { type CellOutcome, type CellRun, type CellSpec, cellCodec, cellName, cellSpeed, cellTraining } from "./cell.ts";

const metrics = z.record(z.string(), z.number());
const runSchema: z.ZodType<CellRun> = z.object({
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
const outcomeSchema: z.ZodType<CellOutcome> = z.union([
  z.object({ run: runSchema }),
  z.object({ overflow: z.string() }),
]);
const fileSchema = z.object({ name: z.string(), digest: z.string(), outcomes: z.array(outcomeSchema) });

export interface CellContext {
  readonly dataDigest: string;
  readonly programDigest: string;
  readonly seed: number;
}

/** Changes with everything that can change the outcome, and with nothing else: not with the number of repeats. */
export function cellDigest(spec: CellSpec, context: CellContext): string {
  const { dataset, trainRows, testRows, keyBits } = spec;
  const parameters = {
    dataset,
    trainRows,
    testRows,
    keyBits,
    training: cellTraining(spec),
    codec: cellCodec(spec),
    speed: cellSpeed(spec),
  };
  return createHash("sha256")
    .update(JSON.stringify([parameters, context.dataDigest, context.programDigest, context.seed]))
    .digest("hex");
}

export class CellStore {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws TandemError FILE_UNWRITABLE */
  static async open(folder: string): Promise<CellStore> {
    try {
      await mkdir(folder, { recursive: true });
    } catch (cause) {
      throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be made`, { cause });
    }
    return new CellStore(folder);
  }

  /** What has been measured of this cell; empty if nothing has, or under other circumstances. */
  async read(spec: CellSpec, digest: string): Promise<readonly CellOutcome[]> {
    try {
      const found = fileSchema.parse(JSON.parse(await readFile(this.#path(spec), "utf8")));
      return found.digest === digest ? found.outcomes : [];
    } catch {
      return []; // not there, or not ours: it will be measured
    }
  }

  async write(spec: CellSpec, digest: string, outcomes: readonly CellOutcome[]): Promise<void> {
    const contents = { name: cellName(spec), digest, outcomes };
    await writeFileAtomically(this.#path(spec), `${JSON.stringify(contents, null, 1)}\n`, 0o644);
  }

  #path(spec: CellSpec): string {
    return join(this.#folder, `${cellName(spec)}.json`);
  }
}
