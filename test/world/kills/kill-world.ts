/** A bank and a shop with a crew on one machine: folders, certificates, tables and configs, for job after job. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SeededRandom } from "../../../src/base/random.ts";
import type { ActiveConfigInput, PassiveConfigInput } from "../../../src/party/config/config.ts";
import { initParty } from "../../../src/party/init.ts";
import { type CrewHome, makeCrewHome } from "../crews/crew-home.ts";
import { freePort } from "../crews/engine-servers.ts";
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

interface Company {
  readonly name: string;
  readonly folder: string;
  readonly fingerprint: string;
}

export interface JobConfigs {
  readonly bank: string;
  readonly shop: string;
}

const jobName = "killed";
const tls = { certificate: "certificate.pem", key: "key.pem" };

export class KillWorld {
  readonly root: string;
  readonly #program: string;
  readonly #bank: Company;
  readonly #shop: Company;
  #homes = 0;

  private constructor(root: string, program: string, bank: Company, shop: Company) {
    this.root = root;
    this.#program = program;
    this.#bank = bank;
    this.#shop = shop;
  }

  static async found(root: string, program: string): Promise<KillWorld> {
    const found = async (role: "active" | "passive", name: string): Promise<Company> => {
      const folder = join(root, name);
      const { fingerprint } = await initParty({ role, name, host: "127.0.0.1", port: 0, directory: folder });
      return { name, folder, fingerprint };
    };
    const [bank, shop] = await Promise.all([found("active", "bank"), found("passive", "shop")]);
    await writeTables(bank.folder, shop.folder);
    return new KillWorld(root, program, bank, shop);
  }

  /** A crew of its own for each job: nothing is left of the one before. */
  crewHome(engine: EngineKind): Promise<CrewHome> {
    const isCluster = engine === engines[2];
    return makeCrewHome({
      program: this.#program,
      party: join(this.#shop.folder, "passive.yaml"),
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
    const port = await freePort();
    const [bank, shop] = [this.#bank, this.#shop];
    const passive: PassiveConfigInput = {
      name: shop.name,
      listen: { host: "127.0.0.1", port },
      tls,
      active: [{ name: bank.name, fingerprint: bank.fingerprint }],
      data: { path: "data.csv", id: "id", features: shopColumns },
      output: { directory: run },
      threads: 1,
      ...(home === null ? {} : { crew: home.section }),
      policy: {
        schemes: ["paillier", "lattice"],
        lattice_minimums: "root",
        insecure_min_key_bits: 512,
        budget: { daily: { ids: 1e9 } },
      },
    };
    const active: ActiveConfigInput = {
      name: bank.name,
      job: jobName,
      passives: [{ name: shop.name, host: "127.0.0.1", port, fingerprint: shop.fingerprint }],
      tls,
      align: false,
      data: { path: "data.csv", id: "id", features: bankColumns, label: "outcome" },
      output: { directory: run },
      threads: 1,
      scheme,
      ...(scheme === "lattice" ? {} : { insecure_key_bits: 1024 }),
      training: { num_round: treeCount, max_depth: 3, max_bin: 16, subsample: 0.8, colsample_bytree: 0.8, seed: 3 },
    };
    const paths = { bank: join(bank.folder, `${run}.json`), shop: join(shop.folder, `${run}.json`) };
    await writeFile(paths.shop, JSON.stringify(passive), { mode: 0o600 });
    await writeFile(paths.bank, JSON.stringify(active), { mode: 0o600 });
    return paths;
  }

  /** Where the bank keeps its events. */
  eventsOf(run: string): string {
    return join(this.#bank.folder, run, jobName, "events.jsonl");
  }

  /** What both have stored of a finished job, as one text. */
  async modelOf(run: string): Promise<string> {
    const files = [
      join(this.#bank.folder, run, jobName, "share.json"),
      join(this.#shop.folder, run, jobName, "share.json"),
    ];
    return (await Promise.all(files.map((file) => readFile(file, "utf8")))).join("\n");
  }
}

/** Outcomes depend on the columns of both; some cells are empty. */
async function writeTables(bank: string, shop: string): Promise<void> {
  const random = new SeededRandom("people of the kills");
  const rows = Array.from({ length: rowCount }, (_, i) => {
    const values = [...bankColumns, ...shopColumns].map(() => random.normal());
    const risk = values[0] + values[3] - values[5] * (values[4] > 0 ? 1 : 0.2) + values[1] * values[7];
    const cells = values.map((value) => (random.uniform() < 0.04 ? "" : value.toFixed(3)));
    const outcome = random.uniform() < 1 / (1 + Math.exp(-2 * risk)) ? "1" : "0";
    return { id: `p${1000 + i}`, outcome, cells };
  });
  const write = async (folder: string, header: readonly string[], cells: readonly (readonly string[])[]) => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "data.csv"), `${[header, ...cells].map((row) => row.join(",")).join("\n")}\n`);
  };
  const own = bankColumns.length;
  await write(
    bank,
    ["id", "outcome", ...bankColumns],
    rows.map(({ id, outcome, cells }) => [id, outcome, ...cells.slice(0, own)]),
  );
  await write(
    shop,
    ["id", ...shopColumns],
    rows.map(({ id, cells }) => [id, ...cells.slice(own)]),
  );
}
