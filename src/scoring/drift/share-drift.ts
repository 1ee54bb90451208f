/**
 * A passive party's drift: of its own features, over the people that it is asked about, per model. Nothing of it leaves
 * the party, and no answer depends on it.
 */
import type { PassiveConfig } from "../../party/config/config.ts";
import { unknownRow } from "../../protocol/passive/split-outcomes.ts";
import type { PassiveShare } from "../../store/share-files.ts";
import type { RowIndex } from "../row-index.ts";
import type { ScoringMeter } from "../scoring-meter.ts";
import { DriftNotes } from "./drift-notes.ts";

/** Models that are scored at the same time; the one that was opened first makes room. */
const modelsMax = 50;

export class ShareDrift {
  readonly #config: Pick<PassiveConfig, "name" | "output">;
  readonly #meter: ScoringMeter;
  readonly #notes = new Map<string, Promise<DriftNotes | null>>();

  constructor(config: Pick<PassiveConfig, "name" | "output">, meter: ScoringMeter) {
    this.#config = config;
    this.#meter = meter;
  }

  /** @param places the row of each id, or unknownRow */
  async see(share: PassiveShare, index: RowIndex, places: Int32Array): Promise<void> {
    const rows = places.filter((row) => row !== unknownRow);
    if (rows.length === 0) return;
    const notes = await this.#of(share);
    try {
      notes?.see({ rows, column: (name) => ({ values: index.column(name), names: index.names(name) }) });
    } catch (error) {
      this.#meter.trouble(error);
    }
  }

  async close(): Promise<void> {
    for (const opened of this.#notes.values()) (await opened)?.close();
    this.#notes.clear();
  }

  #of({ job, model }: PassiveShare): Promise<DriftNotes | null> {
    const known = this.#notes.get(job);
    if (known !== undefined) return known;
    const { name, output } = this.#config;
    const opened = DriftNotes.open({ party: name, job, model, directory: output.directory }, (event) =>
      this.#meter.log(event),
    ).catch((error: unknown) => {
      this.#meter.trouble(error);
      return null;
    });
    this.#notes.set(job, opened);
    for (const [oldest, notes] of this.#notes) {
      if (this.#notes.size <= modelsMax) break;
      this.#notes.delete(oldest);
      void notes.then((one) => one?.close());
    }
    return opened;
  }
}
