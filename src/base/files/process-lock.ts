/**
 * A lock of a folder for one process. The lock is an address on which only one process can listen; it is released when
 * the process ends in any way, so that a crash leaves no stale lock file.
 */
import { createHash } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../error.ts";
import { diskStorage } from "./storage.ts";

/** Releases a folder. */
export type Release = () => Promise<void>;

/** Whether a process of this machine holds the lock; processes on other machines are not seen. */
export async function isLocked(folder: string): Promise<boolean> {
  const path = await realpath(folder).catch(() => null);
  return path !== null && answers(addressOf(digestOf(path)));
}

/** Creates the folder if it does not exist. @throws TandemError PARTY_BUSY if another process holds it; FILE_UNWRITABLE
 * */
export async function lockFolder(folder: string): Promise<Release> {
  await diskStorage.makeFolder(folder);
  const address = addressOf(digestOf(await realpath(folder)));
  const server = (await listening(address)) ?? (address.startsWith("/") ? await takenOver(address) : null);
  if (server === null)
    throw new TandemError("PARTY_BUSY", `another process is working in ${folder}. Let it finish, or stop it first`);
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

function digestOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 32);
}

/**
 * Linux has abstract socket addresses and Windows has pipes; elsewhere it is a socket in the folder for temporary
 * files.
 */
function addressOf(digest: string): string {
  if (process.platform === "linux") return `\0tandem-${digest}`;
  if (process.platform === "win32") return `\\\\.\\pipe\\tandem-${digest}`;
  return join(tmpdir(), `tandem-${digest}.sock`);
}

function listening(address: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(null) : reject(error),
    );
    server.listen(address, () => resolve(server));
  });
}

/** A socket's file remains after its process is gone; then connections to it fail. */
async function takenOver(path: string): Promise<Server | null> {
  if (await answers(path)) return null;
  await rm(path, { force: true });
  return listening(path);
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address, () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });
}
