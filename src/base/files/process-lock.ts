/**
 * One process at a time for a folder. The lock is an address that only one process can listen on, and goes with the
 * process however it ends: there is no file that a crash could leave behind and nobody dares to remove.
 */
import { createHash } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "../error.ts";
import { diskStorage } from "./storage.ts";

/** Lets go of a folder. */
export type Release = () => Promise<void>;

/** Makes the folder if there is none. @throws TandemError PARTY_BUSY if another process holds it; FILE_UNWRITABLE */
export async function lockFolder(folder: string): Promise<Release> {
  await diskStorage.makeFolder(folder);
  const digest = createHash("sha256")
    .update(await realpath(folder))
    .digest("hex")
    .slice(0, 32);
  const address = addressOf(digest);
  const server = (await listening(address)) ?? (address.startsWith("/") ? await takenOver(address) : null);
  if (server === null)
    throw new TandemError("PARTY_BUSY", `another process is at work in ${folder}. Let it finish, or stop it first`);
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Linux has addresses without files and Windows has pipes; elsewhere it is a socket in the folder for temporary files.
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

/** A socket's file stays when its process is gone; then nobody answers there. */
async function takenOver(path: string): Promise<Server | null> {
  const isAlive = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });
  if (isAlive) return null;
  await rm(path, { force: true });
  return listening(path);
}
