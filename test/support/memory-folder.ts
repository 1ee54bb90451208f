/**
 * Scratch folders in memory, where the system has a file system there with room: durable writes and removals of files
 * take a seventh of the CPU time of jobs between parties, and the time that they wait for a disk.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const place = "/dev/shm";
/** Tests hold 200 MB at a time at most. */
const freeBytesMin = 2 ** 31;

/** Vitest calls it once before all tests, and what it returns after them. Processes of the tests inherit the folder. */
export default function setup(): (() => void) | undefined {
  if (!existsSync(place)) return undefined;
  const { bavail, bsize } = statfsSync(place);
  if (bavail * bsize < freeBytesMin) return undefined;
  const folder = mkdtempSync(join(place, "tandem-"));
  chmodSync(folder, 0o1777); // as /tmp: PostgreSQL's server runs as a user of its own
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
