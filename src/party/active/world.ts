/**
 * What an active party's process takes from the outside: the way to other parties, time, chance and a place to store.
 */
import { rmdir } from "node:fs/promises";
import type { PsiPeer } from "../../psi/psi-peer.ts";
import { lockFolder, type Release } from "../../base/files/process-lock.ts";
import { osRandom } from "../../base/random.ts";
import { diskStorage, type Storage } from "../../base/files/storage.ts";
import type { CustomObjective } from "../../gbdt/objective/custom-objective.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { CallWatch } from "../../transport/call-watch.ts";
import { connectTls } from "../../transport/tls-connect.ts";
import type { ActiveConfig } from "../config/config.ts";
import { readIdentity } from "../identity.ts";
import type { Emit } from "../../record/events.ts";
import { type JobNotes, JobRecord } from "../../record/job-record.ts";
import type { TaskCrew } from "../../scheme/tasks/tasks.ts";

/** A passive party over one connection, which is never replaced behind its user's back. */
export interface ConnectedPeer extends PassivePeer {
  /** The same party, over the same connection, for the alignment before a job. */
  alignment(job: string, validationFile: boolean): PsiPeer;
  close(): void;
}

export interface ActiveWorld {
  /** Gradients of the caller's own: a function cannot stand in a config. Left out: those of the config's objective. */
  readonly objective?: CustomObjective | undefined;
  /** Workers that encrypt and decrypt; left out: this process does. */
  readonly crew?: TaskCrew | undefined;
  /** Told, once the job has a record, how to put events there. */
  readonly onRecords?: ((emit: Emit) => void) | undefined;
  /**
   * One new connection to each passive party, in their order.
   * @param watchOf what no call of a party waits longer than
   */
  connect(
    config: Pick<ActiveConfig, "tls" | "passives">,
    watchOf: (party: string) => CallWatch,
  ): Promise<readonly ConnectedPeer[]>;
  readonly storage: Storage;
  /** Keeps other processes out of a job's folder, which goes again if it is empty. @throws TandemError PARTY_BUSY */
  lock(folder: string): Promise<Release>;
  /** Where the job's events go besides, for people to look at. */
  notes(folder: string): JobNotes;
  /** Milliseconds that never run backwards. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Rings once, unless it is taken back with what this returns; nothing is kept alive for it. */
  readonly alarm: (ms: number, ring: () => void) => () => void;
  /** Uniform in [0, 1); spreads attempts, and nothing else hangs on it. */
  readonly jitter: () => number;
}

export const realWorld: ActiveWorld = {
  async connect({ tls, passives }, watchOf) {
    const identity = await readIdentity(tls);
    return passives.map((passive) => {
      const { name, fingerprint } = passive;
      return connectTls(name, identity, fingerprint, passive, { watch: watchOf(name) });
    });
  },
  storage: diskStorage,
  async lock(folder) {
    const release = await lockFolder(folder);
    return async () => {
      // A job that failed before it stored anything. The system refuses where the folder holds something.
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
