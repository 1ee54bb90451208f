/** This party's machine: the folder of its jobs, other outputs, memory against its table, kernels. */
import { constants } from "node:fs";
import { access, mkdir, rm, stat, statfs } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import { ownMemoryBytes } from "../../base/own-memory.ts";
import type { ActiveConfig, PassiveConfig } from "../config/config.ts";
import { type Check, failed, ok, type Trouble, warning } from "./check.ts";

const megabyte = 1 << 20;
/** Below this the next round of a job may not be stored. */
const freeBytesMin = 100 * megabyte;
const freeBytesUsual = 1024 * megabyte;
/** A table takes about this many times its file's size while it is read. */
const memoryPerFileByte = 6;
const slowSyncMs = 200;

/** That results can be written, before a partner is asked for anything. */
export async function checkOutputs({
  name,
  output,
}: {
  readonly name: string;
  readonly output: Pick<ActiveConfig["output"], "directory" | "predictions">;
}): Promise<Check[]> {
  const checks = [await writable("output folder", output.directory, name)];
  if (output.predictions !== undefined) checks.push(await writableFile("predictions", output.predictions, name));
  return checks;
}

/** A folder that exists, or can be made. */
async function writable(check: string, folder: string, who: string): Promise<Check> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
    return ok(check, folder);
  } catch (cause) {
    return failed(check, unwritable(folder, cause, who));
  }
}

/** A file in a folder that exists. */
export async function writableFile(check: string, path: string, who: string): Promise<Check> {
  try {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() === true)
      return failed(check, {
        code: "FILE_UNWRITABLE",
        words: `${path} is a folder, and a file is to be written there`,
        who,
        todo: "name a file",
      });
    await access(found === null ? dirname(path) : path, constants.W_OK);
    return ok(check, path);
  } catch (cause) {
    return failed(check, unwritable(path, cause, who));
  }
}

function unwritable(path: string, cause: unknown, who: string): Trouble {
  const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
  const todo =
    code === "ENOENT"
      ? "create the folder, or correct the path in its config"
      : code === "ENOTDIR" || code === "EEXIST"
        ? "correct the path in its config: a part of it is a file"
        : code === "EROFS"
          ? "name a folder on a disk that can be written"
          : "let the user that runs Tandem write there";
  return { code: "FILE_UNWRITABLE", words: `${path} cannot be written (${code})`, who, todo };
}

/** Space, and the time of a write that survives a power failure: every round of a job has some. */
export async function checkDisk(folder: string, who: string): Promise<Check[]> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = Number(bavail) * Number(bsize);
  const words = `${megabytes(freeBytes)} free in ${folder}`;
  const space =
    freeBytes < freeBytesMin
      ? failed("disk", { code: "FILE_UNWRITABLE", words: `only ${words}`, who, todo: "free some space" })
      : freeBytes < freeBytesUsual
        ? warning("disk", { words: `only ${words}`, who, todo: "free some space before a long job" })
        : ok("disk", words);
  const path = join(folder, ".doctor");
  const started = performance.now();
  try {
    await writeFileAtomically(path, new Uint8Array(64 << 10), 0o600);
    const tookMs = performance.now() - started;
    const took = `64 KB stored durably in ${tookMs.toFixed(1)} ms`;
    return [
      space,
      tookMs < slowSyncMs
        ? ok("fsync", took)
        : warning("fsync", {
            words: `${took}: each round of a job waits for such writes`,
            who,
            todo: "use a faster disk for the output folder",
          }),
    ];
  } catch (cause) {
    return [space, failed("fsync", unwritable(path, cause, who))];
  } finally {
    await rm(path, { force: true });
  }
}

/** Of a table in files: other sources do not say their size. */
export async function checkMemory({ data, name }: Pick<PassiveConfig, "data" | "name">): Promise<Check> {
  const bytes = ownMemoryBytes();
  const path = typeof data.path === "string" ? data.path : null;
  const found = path === null ? null : await stat(path).catch(() => null);
  const has = `${megabytes(bytes)} of memory`;
  if (path === null || found === null || !found.isFile()) return ok("memory", has);
  const packed = /\.(gz|parquet)$/.test(path) ? 4 : 1;
  const needed = found.size * packed * memoryPerFileByte;
  if (needed < bytes) return ok("memory", `${has}, about ${megabytes(needed)} needed for the table`);
  return warning("memory", {
    words: `this machine has ${has}, and the table in ${path} may need ${megabytes(needed)}`,
    who: name,
    todo: "use a machine with more memory, or leave columns out (data.features)",
  });
}

export async function checkKernels(who: string): Promise<Check> {
  const { selectKernel } = await import("../../crypto/paillier/select-kernel.ts");
  const kernel = selectKernel();
  const words = `${kernel.name} arithmetic, ${availableParallelism()} cores`;
  if (kernel.name !== "portable") return ok("kernels", words);
  return warning("kernels", {
    words: "the native addon is not there: arithmetic is ten times slower",
    who,
    todo: "install g++ and run 'npm rebuild @tandem-vfl/tandem'",
  });
}

function megabytes(bytes: number): string {
  return bytes >= 10 * 1024 * megabyte
    ? `${(bytes / (1024 * megabyte)).toFixed(0)} GB`
    : `${Math.round(bytes / megabyte).toLocaleString("en")} MB`;
}
