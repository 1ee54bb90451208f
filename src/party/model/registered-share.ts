/** The shares that a registry's versions name, and changing a registry: one process at a time. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { lockFolder } from "../../base/files/process-lock.ts";
import { diskStorage, type Storage } from "../../base/files/storage.ts";
import {
  readRegistry,
  registryFolder,
  type RegisteredVersion,
  type Registry,
  writeRegistry,
} from "../../store/registry-file.ts";
import { type ActiveShare, readActiveShare, readShare } from "../../store/share-files.ts";
import { jobSharePath } from "./job-share.ts";
import { inUse, type Reference, register, resolve, wordsOf } from "./registry.ts";

/** Reads, changes and replaces the registry. @throws TandemError PARTY_BUSY while another process changes it */
export async function changeRegistry<T extends Registry | { readonly registry: Registry }>(
  directory: string,
  change: (registry: Registry) => T | Promise<T>,
  storage: Storage = diskStorage,
): Promise<T> {
  const release = await lockFolder(registryFolder(directory));
  try {
    const changed = await change(await readRegistry(directory, storage));
    await writeRegistry(directory, "registry" in changed ? changed.registry : changed, storage);
    return changed;
  } finally {
    await release();
  }
}

/** Of a finished job of this party. @throws TandemError MODEL_UNKNOWN, or as register and changeRegistry */
export async function registerJob(
  directory: string,
  { name, job }: { readonly name: string; readonly job: string },
  now: Date,
): Promise<RegisteredVersion> {
  const path = jobSharePath(directory, job);
  const share = await digestOf(path);
  if (share === null)
    throw new TandemError("MODEL_UNKNOWN", `there is no model of a job '${job}' in ${directory}: ${path} is missing`);
  const {
    share: { model },
  } = await readShare(path);
  return (await changeRegistry(directory, (registry) => register(registry, name, { job, model, share }, now))).version;
}

/** @throws TandemError MODEL_UNKNOWN, POLICY for a retired version, or as readVersion */
export async function readReference(directory: string, reference: Reference): Promise<ActiveShare> {
  return readVersion(directory, inUse(resolve(await readRegistry(directory), reference), reference), reference);
}

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT, if the share is gone or is not the one that was registered */
export async function readVersion(
  directory: string,
  { job, model, share: registered }: RegisteredVersion,
  reference: Reference,
): Promise<ActiveShare> {
  const path = join(directory, job, "share.json");
  const digest = await digestOf(path);
  if (digest === null)
    throw new TandemError("FILE_UNREADABLE", `${wordsOf(reference)} is the model of job ${job}: ${path} is missing`);
  const share = await readActiveShare(path);
  if (digest !== registered || share.model !== model)
    throw new TandemError(
      "FILE_FORMAT",
      `${wordsOf(reference)}: ${path} has changed since it was registered. Restore it, or register it as a new version`,
    );
  return share;
}

async function digestOf(path: string): Promise<string | null> {
  const bytes = await diskStorage.read(path);
  return bytes === null ? null : createHash("sha256").update(bytes).digest("hex");
}
