import { totalmem } from "node:os";

/** Of this machine, or of its container. */
export function ownMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
