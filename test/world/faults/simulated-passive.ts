/** A passive party in a simulation: it crashes at writes and calls, stays down for a while, and is started again. */
import type { PassiveConfig } from "../../../src/party/config/config.ts";
import { JobAdmission } from "../../../src/party/passive/admission.ts";
import { type PartyCalls, partyCalls } from "../../../src/transport/party-service.ts";
import type { FaultKind, FaultPlan } from "./fault-plan.ts";
import type { SimulatedConnection } from "./simulated-connection.ts";
import { SimulatedCrew } from "./simulated-crew.ts";
import { Crashed, SimulatedDisk } from "./simulated-storage.ts";

/** A party that is down comes back within this time of the simulation. */
export const downMsMax = 3000;

/** The simulation around a party. */
export interface PassiveSurroundings {
  readonly plan: FaultPlan;
  /** Called after every write. */
  check(): void;
}

export class SimulatedPassive {
  readonly config: PassiveConfig;
  readonly disk = new SimulatedDisk();
  calls: PartyCalls | null = null;
  starts = 0;
  connections: SimulatedConnection[] = [];
  #downUntilMs = 0;
  readonly #simulation: PassiveSurroundings;
  /** Processes of their own: they do not go down with the party. */
  readonly #crew: SimulatedCrew | null;

  /** @param crewRows of a block at a worker; null: the party has no workers */
  constructor(config: PassiveConfig, simulation: PassiveSurroundings, crewRows: number | null) {
    this.config = config;
    this.#simulation = simulation;
    this.#crew = crewRows === null ? null : new SimulatedCrew(config.name, simulation.plan, this.disk, crewRows);
  }

  /** Starts the party if it is time to. */
  async start(nowMs: number): Promise<void> {
    if (this.calls !== null || nowMs < this.#downUntilMs) return;
    const { plan } = this.#simulation;
    const start = this.starts++;
    let dead = false;
    const crash = (kind: FaultKind, share: number, path: string, index: number): void => {
      if (!plan.happens(kind, share, this.config.name, start, path, index)) return;
      dead = true;
      this.crash(nowMs);
      throw new Crashed();
    };
    const storage = this.disk.storage(() => dead, {
      ticks: (path, index) => plan.writeTicks(this.config.name, start, path, index),
      before: (path, index) => crash("passive crash at a write", 0.02, path, index),
      after: (path, index) => {
        this.#simulation.check();
        crash("passive crash after a write", 0.02, path, index);
      },
    });
    const crew = this.#crew?.party(storage);
    const admission = new JobAdmission(
      this.config,
      () => {},
      () => {},
      { storage, now: () => 0, crew: crew?.crew }, // a simulation takes no day
    );
    await admission.load();
    this.#kill = () => {
      dead = true;
      crew?.cut();
    };
    this.calls = partyCalls(admission);
  }

  #kill: () => void = () => {};

  /** The simulation is over. */
  stop(): void {
    this.#crew?.stop();
  }

  crash(nowMs: number): void {
    if (this.calls === null) return;
    const { plan } = this.#simulation;
    this.#kill();
    this.calls = null;
    this.#downUntilMs = nowMs + plan.upTo(downMsMax, "down", this.config.name, this.starts);
    for (const connection of this.connections.splice(0)) {
      connection.loseThere();
      connection.lose();
    }
  }
}
