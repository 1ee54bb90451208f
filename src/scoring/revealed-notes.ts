/** The active party's own note of what scoring reveals, in the record of the model's job: summed up once a minute. */
import { join } from "node:path";
import type { ActiveConfig } from "../party/config/config.ts";
import { appendOwn } from "../record/append-own.ts";
import type { Revealed } from "../record/revealed.ts";
import type { ActiveShare } from "../store/share-files.ts";

const intervalMs = 60_000;

type Noted = Pick<Revealed, "how" | "passive" | "ids" | "splits">;

export class RevealedNotes {
  readonly #folder: string;
  readonly #active: string;
  readonly #now: () => number;
  #sums = new Map<string, Noted>();
  #writtenAt: number;

  constructor({ output }: Pick<ActiveConfig, "output">, share: ActiveShare, now: () => number = Date.now) {
    this.#folder = join(output.directory, share.job);
    this.#active = share.name;
    this.#now = now;
    this.#writtenAt = now();
  }

  add(noted: Noted): void {
    const key = `${noted.how}\n${noted.passive}`;
    const ids = (this.#sums.get(key)?.ids ?? 0) + (noted.ids ?? 0);
    this.#sums.set(key, { ...noted, ...(noted.ids === undefined ? {} : { ids }) });
    if (this.#now() - this.#writtenAt >= intervalMs) this.write();
  }

  write(): void {
    const at = this.#now();
    const active = this.#active;
    appendOwn(
      this.#folder,
      ...[...this.#sums.values()].map((of) => ({ kind: "revealed" as const, at, active, ...of })),
    );
    this.#sums = new Map();
    this.#writtenAt = at;
  }
}
