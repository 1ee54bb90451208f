/** The faults of a job, drawn from a seed. Their timing depends on the machine too. */
import { SeededRandom } from "../../../src/base/random.ts";

export const victims = [
  "one worker",
  "all workers",
  "server",
  "stream leader",
  "passive party",
  "active party",
  "worker and server",
] as const;
export const ways = ["SIGKILL", "SIGSTOP", "SIGTERM"] as const;
export const moments = ["reading data", "loading gradients", "in a level", "between rounds"] as const;
export const engines = ["one server, files", "one server, memory", "three servers, three replicas"] as const;
export const schemes = ["paillier", "lattice", "curve"] as const;

export type Victim = (typeof victims)[number];
export type Way = (typeof ways)[number];
export type Moment = (typeof moments)[number];
export type EngineKind = (typeof engines)[number];

export interface Fault {
  readonly who: Victim;
  readonly how: Way;
  readonly when: Moment;
  /** Of several, this one. */
  readonly which: number;
  /** How long it is away before it is started again. */
  readonly awayMs: number;
  /** How long it is stopped beyond the lease. */
  readonly beyondLeaseMs: number;
  /** How much later than the moment begins. */
  readonly afterMs: number;
  /** The next one does not wait for a tree. */
  readonly isFollowedAtOnce: boolean;
}

export interface KillPlan {
  readonly engine: EngineKind;
  readonly scheme: (typeof schemes)[number];
  readonly workerCount: number;
  readonly faults: readonly Fault[];
}

export const faultsPerJob = 8;

/** Engines and schemes alternate; everything else is drawn. */
export function killPlan(seed: number, job: number): KillPlan {
  const random = new SeededRandom(`kills ${seed} ${job}`);
  const engine = engines[job % engines.length];
  const isCluster = engine === engines[2];
  const who = isCluster ? victims : victims.filter((victim) => victim !== "stream leader");
  const faults = Array.from({ length: faultsPerJob }, (_, i): Fault => ({
    who: pick(random, who),
    how: pick(random, ways),
    when: i === 0 ? "reading data" : pick(random, moments),
    which: random.below(6),
    awayMs: 100 + random.below(1500),
    beyondLeaseMs: 500 + random.below(2000),
    afterMs: random.below(120),
    isFollowedAtOnce: random.uniform() < 0.3,
  }));
  return {
    engine,
    scheme: schemes[Math.floor(job / engines.length) % schemes.length],
    workerCount: 2 + random.below(2),
    faults,
  };
}

function pick<T>(random: SeededRandom, from: readonly T[]): T {
  return from[random.below(from.length)];
}
