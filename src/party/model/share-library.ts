/**
 * The models that a passive party can score with: the shares in the folders of its jobs. What is on disk counts: a
 * model appears when its job has ended, and is gone within a second when its owner removes the share.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { type PassiveShare, readPassiveShare } from "../../store/share-files.ts";

const ageMsMax = 1000;

interface Kept {
  readonly version: string;
  /** Null for a file that is no share. */
  readonly share: PassiveShare | null;
  lookedAt: number;
}

export class ShareLibrary {
  readonly #directory: string;
  readonly #onDamaged: (error: TandemError) => void;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  #scanning: Promise<void> | null = null;

  /** @param onDamaged hears once of each file that cannot be used */
  constructor(directory: string, onDamaged: (error: TandemError) => void, now: () => number = () => performance.now()) {
    this.#directory = directory;
    this.#onDamaged = onDamaged;
    this.#now = now;
  }

  /** The share of a model that was trained with this active party, or null. */
  async find(model: string, active: string): Promise<PassiveShare | null> {
    const known = this.#lookUp(model, active);
    if (known !== null && this.#now() - known[1].lookedAt < ageMsMax) return known[1].share;
    await (this.#scanning ??= this.#scan().finally(() => (this.#scanning = null)));
    return this.#lookUp(model, active)?.[1].share ?? null;
  }

  /** The active party that a model was trained with, for this party's own log. */
  partnerOf(model: string): string | null {
    for (const { share } of this.#kept.values()) if (share?.model === model) return share.active;
    return null;
  }

  #lookUp(model: string, active: string): [path: string, kept: Kept] | null {
    for (const entry of this.#kept) {
      const { share } = entry[1];
      if (share !== null && share.model === model && share.active === active) return entry;
    }
    return null;
  }

  async #scan(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const paths = names.map((name) => join(this.#directory, name, "share.json"));
    for (const path of this.#kept.keys()) if (!paths.includes(path)) this.#kept.delete(path);
    for (const path of paths) await this.#look(path);
  }

  async #look(path: string): Promise<void> {
    const version = await stat(path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs}/${size}/${ino}`,
      () => null,
    );
    if (version === null) {
      this.#kept.delete(path);
      return;
    }
    const kept = this.#kept.get(path);
    const share = kept?.version === version ? kept.share : await this.#read(path);
    this.#kept.set(path, { version, share, lookedAt: this.#now() });
  }

  async #read(path: string): Promise<PassiveShare | null> {
    try {
      return await readPassiveShare(path);
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      this.#onDamaged(error);
      return null;
    }
  }
}
