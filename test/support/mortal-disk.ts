/** A disk in memory whose process is killed at a write. */
import type { Storage } from "../../src/base/files/storage.ts";
import type { MemoryDisk } from "./memory-disk.ts";

export class Killed extends Error {}

/** A disk whose process dies at one of its writes. */
export function mortal(files: MemoryDisk, dies: (write: number) => "before" | "after" | null): Storage {
  let writes = 0;
  let isDead = false;
  const changing = async (change: () => void): Promise<void> => {
    const when = isDead ? "before" : dies(writes++);
    if (when === "before") isDead = true;
    if (isDead) throw new Killed();
    change();
    if (when === "after") isDead = true;
    if (isDead) throw new Killed();
  };
  return {
    ...files.storage(),
    write: (path, contents) => changing(() => files.put(path, contents)),
    append: (path, contents) => changing(() => files.add(path, contents)),
  };
}
