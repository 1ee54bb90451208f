/**
 * A party's registry of models: one file, replaced as a whole, in `.registry/` next to the jobs' folders. A version
 * names a job's share by its model id and by the digest of its file, so that another file in its place is not used.
 */
import { join } from "node:path";
import * as z from "zod";
import { diskStorage, type Storage } from "../base/files/storage.ts";
import { jobSyntax } from "../base/job-name.ts";
import { type SealedKind, readSealed, writeSealed } from "./sealed-file.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const number = z.number().int().positive();

/** An alias begins with a letter, which distinguishes it from a version's number. */
export const aliasSyntax = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
/** Earlier versions of an alias that can be rolled back to. */
export const earlierMax = 20;
const versionsMax = 10_000;

const version = z.strictObject({
  version: number,
  job: z.string().regex(jobSyntax),
  model: digest,
  /** SHA-256 of the share's file. */
  share: digest,
  registered: z.iso.datetime(),
  retired: z.iso.datetime().optional(),
});
const alias = z.strictObject({
  alias: z.string().regex(aliasSyntax),
  version: number,
  since: z.iso.datetime(),
  /** Its versions before this one, the latest last. */
  earlier: z.array(number).max(earlierMax),
});
const registeredModel = z
  .strictObject({
    name: z.string().regex(jobSyntax),
    versions: z.array(version).min(1).max(versionsMax),
    aliases: z.array(alias),
  })
  .refine(({ versions }) => versions.every((one, i) => one.version === i + 1), {
    message: "versions are not numbered from 1",
  })
  .refine(
    ({ versions, aliases }) =>
      aliases.every((one) => [one.version, ...one.earlier].every((named) => named <= versions.length)),
    { message: "an alias names a version that does not exist" },
  );
const registry = z.strictObject({ models: z.array(registeredModel) });

export type RegisteredVersion = z.infer<typeof version>;
export type RegisteredModel = z.infer<typeof registeredModel>;
export type Registry = z.infer<typeof registry>;

const kind: SealedKind<Registry> = {
  format: "tandem-registry/1",
  name: "registry",
  noun: "a registry of models",
  schema: registry,
  code: "FILE_FORMAT",
  advice: "Restore it from a backup, or remove it and register the models again",
};

/** @param directory the party's folder of jobs */
export function registryFolder(directory: string): string {
  return join(directory, ".registry");
}

export function registryPath(directory: string): string {
  return join(registryFolder(directory), "models.json");
}

/** Without a file there are no models. @throws TandemError FILE_FORMAT */
export async function readRegistry(directory: string, storage: Storage = diskStorage): Promise<Registry> {
  return (await readSealed(registryPath(directory), kind, storage)) ?? { models: [] };
}

export function writeRegistry(directory: string, contents: Registry, storage: Storage = diskStorage): Promise<void> {
  return writeSealed(registryPath(directory), kind, contents, storage);
}
