/**
 * The environment of an active party's process: network, clock, randomness and storage.
 */
import { rmdir } from "node:fs/promises";
import type { PsiPeer } from "../../psi/psi-peer.ts";
import { lockFolder, type Release } from "../../base/files/process-lock.ts";
import { osRandom } from "../../base/random.ts";
import { diskStorage, type Storage } from "../../base/files/storage.ts";
import type { CustomObjective } from "../../gbdt/objective/custom-objective.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { RequestJob } from "../../transport/admission-client.ts";
import type { CallWatch } from "../../transport/call-watch.ts";
import { connectTls } from "../../transport/tls-connect.ts";
import type { ActiveConfig } from "../config/config.ts";
import { requireOwnFiles, requirePartners } from "../checks/before-job.ts";
import { currentPartners } from "../config/current-partners.ts";
import { readIdentity } from "../identity.ts";
import type { Emit } from "../../record/events.ts";
import { type JobNotes, JobRecord } from "../../record/job-record.ts";
import type { TaskCrew } from "../../scheme/tasks/tasks.ts";

/** A passive party over one connection, which is never replaced silently. */
export interface ConnectedPeer extends PassivePeer {
  /** The same party, over the same connection, for the alignment before a job. */
  alignment(job: string, validationFile: boolean): PsiPeer;
  /** Asks it over this connection whether a job may begin. */
  readonly request: RequestJob;
  close(): void;
}

export interface ActiveWorld {
  /** A custom objective, which a config cannot contain. Left out: the config's objective. */
  readonly objective?: CustomObjective | undefined;
  /** Workers that encrypt and decrypt; left out: this process. */
  readonly crew?: TaskCrew | undefined;
  /** Receives, once the job has a record, a function that writes events to it. */
  readonly onRecords?: ((emit: Emit) => void) | undefined;
  /**
   * One new connection to each passive party, in their order.
   * @param watchOf the timeout of calls to a party
   */
  connect(
    config: Pick<ActiveConfig, "tls" | "passives" | "file">,
    watchOf: (party: string) => CallWatch,
  ): Promise<readonly ConnectedPeer[]>;
  /** Looks at what belongs to this company, before its data is read. @throws TandemError */
  ownFiles?(config: ActiveConfig, emit: Emit): Promise<void>;
  /** Looks at the way to each partner, before a job begins. @throws TandemError for what no waiting would change */
  partners?(config: ActiveConfig, emit: Emit, isTrained: boolean): Promise<void>;
  readonly storage: Storage;
  /**
   * Locks a job's folder against other processes; an empty folder is deleted at the end.
   * @throws TandemError PARTY_BUSY
   */
  lock(folder: string): Promise<Release>;
  /** Writes the job's events to its record. */
  notes(folder: string): JobNotes;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Starts a one-shot timer that does not keep the process alive. @returns cancels it */
  readonly alarm: (ms: number, ring: () => void) => () => void;
  /** Uniform in [0, 1); used only for jitter. */
  readonly jitter: () => number;
}

export const realWorld: ActiveWorld = {
  async connect(config, watchOf) {
    const identity = await readIdentity(config.tls);
    return (await currentPartners(config, config.passives)).map(({ name, fingerprint, channel }) =>
      connectTls(name, identity, fingerprint, channel, { watch: watchOf(name) }),
    );
  },
  ownFiles: requireOwnFiles,
  partners: requirePartners,
  storage: diskStorage,
  async lock(folder) {
    const release = await lockFolder(folder);
    return async () => {
      // For a job that failed before it stored anything: rmdir fails if the folder is not empty.
      await rmdir(folder).catch(() => {});
      await release();
    };
  },
  notes: (folder) => new JobRecord(folder),
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms).unref();
    return () => clearTimeout(timer);
  },
  jitter: () => osRandom.fill(new Uint8Array(1))[0] / 256,
};
