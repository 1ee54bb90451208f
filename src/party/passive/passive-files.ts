/** A passive party's own files: its tables, and its folder of each job. Errors in them go to its log. */
import { join } from "node:path";
import type { Storage } from "../../base/files/storage.ts";
import type { Emit } from "../../record/events.ts";
import type { PartyTable } from "../../data/dataset.ts";
import type { PassiveConfig } from "../config/config.ts";
import { DataCache } from "../tables/data-cache.ts";
import type { JoinedTable } from "../tables/joined-tables.ts";
import { withOwnFiles } from "../own-files.ts";
import type { DistinctTable } from "../tables/party-data.ts";
import type { PassiveCheckpointsOptions } from "./checkpoints.ts";

interface ReadTable extends Pick<PartyTable, "featureNames" | "categories"> {
  readonly rows: number;
}

export class PassiveFiles {
  readonly config: PassiveConfig;
  readonly storage: Storage;
  readonly data: DataCache;
  readonly emit: Emit;
  /** The own table when it was last read completely; until then an empty one. Probes do not read it again. */
  lastRead: ReadTable = { rows: 0, featureNames: [] };

  constructor(config: PassiveConfig, storage: Storage, emit: Emit) {
    this.config = config;
    this.storage = storage;
    this.data = new DataCache(config.data, "categories", (words) =>
      emit({ type: "notice", party: config.name, words }),
    );
    this.emit = emit;
  }

  noteRead({ ids, table: { featureNames, categories } }: JoinedTable): void {
    this.lastRead = { rows: ids.ids.length, featureNames, ...(categories && { categories }) };
  }

  table(): Promise<JoinedTable> {
    return this.using(() => this.data.table());
  }

  testTable(): Promise<DistinctTable | null> {
    return this.using(() => this.data.testTable());
  }

  checkpointsOf(job: string): PassiveCheckpointsOptions {
    const { name, output } = this.config;
    return {
      party: name,
      job,
      folder: join(output.directory, job),
      storage: this.storage,
      ownFiles: (work) => this.using(work),
    };
  }

  /** Work on own files: the details of an error go to the log; the caller receives only that it failed. */
  using<T>(work: () => Promise<T>): Promise<T> {
    return withOwnFiles(this.config.name, this.emit, work);
  }
}
