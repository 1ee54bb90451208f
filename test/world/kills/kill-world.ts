/** A bank and a shop with a crew on one machine: folders, certificates, tables and configs, for job after job. */
import { join } from "node:path";
import { SeededRandom } from "../../../src/base/random.ts";
import { type CrewHome, makeCrewHome } from "../crews/crew-home.ts";
import type { Table } from "../people.ts";
import { ProcessWorld } from "../processes.ts";
import { freePort } from "../tandem-process.ts";
import { type EngineKind, engines, faultsPerJob, type KillPlan } from "./kill-plan.ts";

/** The shortest that a config allows. */
export const leaseSeconds = 2;
/** Six blocks. */
const rowCount = 3000;
const blockRows = 512;
const bankColumns = ["b0", "b1", "b2"];
const shopColumns = ["s0", "s1", "s2", "s3", "s4", "s5"];
/** Enough that no job is over before all of its faults. */
export const treeCount = 4 * faultsPerJob;

export interface JobConfigs {
  readonly bank: string;
  readonly shop: string;
}

const jobName = "killed";

export class KillWorld {
  readonly root: string;
  readonly #program: string;
  readonly #world: ProcessWorld;
  #homes = 0;

  private constructor(program: string, world: ProcessWorld) {
    this.root = world.root;
    this.#program = program;
    this.#world = world;
  }

  static async found(root: string, program: string): Promise<KillWorld> {
    const policy = {
      schemes: ["paillier", "lattice", "curve"],
      lattice_minimums: "root" as const,
      budget: { daily: { ids: 1e9 } },
    };
    const world = await ProcessWorld.found(root, tables(), {
      passive: { threads: 1, policy },
      active: {
        align: false,
        threads: 1,
        insecure_key_bits: 1024,
        data: { positive: undefined, test_fraction: undefined },
        training: { num_round: treeCount, max_bin: 16, subsample: 0.8, colsample_bytree: 0.8, seed: 3 },
      },
    });
    return new KillWorld(program, world);
  }

  /** A crew of its own for each job: nothing is left of the one before. */
  crewHome(engine: EngineKind): Promise<CrewHome> {
    const isCluster = engine === engines[2];
    return makeCrewHome({
      program: this.#program,
      party: join(this.#world.shop.folder, "passive.yaml"),
      folder: join(this.root, `crew-${this.#homes++}`),
      serverCount: isCluster ? 3 : 1,
      section: {
        store: engine === engines[1] ? "memory" : "file",
        replicas: isCluster ? 3 : 1,
        lease_seconds: leaseSeconds,
        block_rows: blockRows,
      },
    });
  }

  /**
   * The job's name stands in what is stored, so all have the same; their folders differ.
   * @param run whose folder it is
   * @param home null: the party does everything itself
   */
  async writeConfigs(run: string, scheme: KillPlan["scheme"], home: CrewHome | null): Promise<JobConfigs> {
    const { bank, shop } = this.#world;
    const port = await freePort();
    const common = { output: { directory: run } };
    const listen = { host: "127.0.0.1", port };
    const crew = home === null ? {} : { crew: home.section };
    const keyless = scheme !== "paillier" ? { insecure_key_bits: undefined } : {};
    const file = `${run}.json`;
    return {
      shop: this.#world.writePassive(shop, { ...common, ...crew, listen }, file),
      bank: this.#world.writeActive(
        jobName,
        { ...common, ...keyless, scheme },
        { file, ports: { [shop.name]: port }, active: bank },
      ),
    };
  }

  /** Where the bank keeps its events. */
  eventsOf(run: string): string {
    return this.#world.path(this.#world.bank, jobName, "events.jsonl", run);
  }

  /** What both have stored of a finished job, as one text. */
  modelOf(run: string): string {
    const { bank, shop } = this.#world;
    return [bank, shop].map((company) => this.#world.read(company, jobName, "share.json", run)).join("\n");
  }
}

/** Outcomes depend on the columns of both; some cells are empty. */
function tables(): Record<string, Table> {
  const random = new SeededRandom("people of the kills");
  const rows = Array.from({ length: rowCount }, (_, i) => {
    const values = [...bankColumns, ...shopColumns].map(() => random.normal());
    const risk = values[0] + values[3] - values[5] * (values[4] > 0 ? 1 : 0.2) + values[1] * values[7];
    const cells = values.map((value) => (random.uniform() < 0.04 ? "" : value.toFixed(3)));
    const outcome = random.uniform() < 1 / (1 + Math.exp(-2 * risk)) ? "1" : "0";
    return { id: `p${1000 + i}`, outcome, cells };
  });
  const own = bankColumns.length;
  return {
    bank: {
      header: ["id", "outcome", ...bankColumns],
      rows: rows.map(({ id, outcome, cells }) => [id, outcome, ...cells.slice(0, own)]),
    },
    shop: { header: ["id", ...shopColumns], rows: rows.map(({ id, cells }) => [id, ...cells.slice(own)]) },
  };
}
