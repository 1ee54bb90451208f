/**
 * How the scores of a model and a party's own features were distributed in training: reference.json in the job's
 * folder, with counts per bin and no row. It is written before the share, so that a finished job has it.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Immutable } from "../base/immutable.ts";
import { diskStorage, type Storage } from "../base/files/storage.ts";
import { type SealedKind, readSealed, writeSealed } from "./sealed-file.ts";

const counts = z.array(z.number().int().nonnegative());
const distribution = z.union([
  z
    .strictObject({ bounds: z.array(z.number()), counts })
    .refine(({ bounds, counts: all }) => all.length === bounds.length + 2, { message: "a bin has no count" }),
  z
    .strictObject({ categories: z.array(z.string()), counts })
    .refine(({ categories, counts: all }) => all.length === categories.length + 2, { message: "a bin has no count" }),
]);
const reference = z.strictObject({
  model: z.string().regex(/^[0-9a-f]{64}$/),
  /** One per number of a prediction; none at a passive party. */
  scores: z.array(distribution),
  /** Own features that the model splits on. */
  features: z.array(z.strictObject({ name: z.string(), distribution })),
});

export type Reference = Immutable<z.infer<typeof reference>>;

const kind: SealedKind<Reference> = {
  format: "tandem-reference/1",
  name: "reference",
  noun: "a model's reference distributions",
  schema: reference,
  code: "FILE_FORMAT",
  advice: "Remove it: there is no stability index then",
};

const fileName = "reference.json";

export function writeReference(folder: string, contents: Reference, storage: Storage): Promise<void> {
  return writeSealed(join(folder, fileName), kind, contents, storage);
}

/** @returns null where there is none, as of jobs of earlier versions. @throws TandemError FILE_FORMAT */
export function readReference(folder: string, storage: Storage = diskStorage): Promise<Reference | null> {
  return readSealed(join(folder, fileName), kind, storage);
}
