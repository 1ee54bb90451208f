/**
 * A bank and a shop for jobs in which one of them is hostile. Their tables hold unique words and digits, so that a leak
 * into a log is detected.
 */
import { SeededRandom } from "../../../src/base/random.ts";
import type { ActiveConfig } from "../../../src/party/config/config.ts";
import type { Experiment } from "../../../src/party/experiment.ts";
import type { Table } from "../people.ts";
import { type ActiveChanges, ProcessWorld } from "../processes.ts";
import type { Scenario } from "./hostile-scenarios.ts";

export const peopleCount = 48;
export const labelWords = ["zqdefaulter", "zqpayer"] as const;
/** In the configs: what a party derives its draws and its noise from. */
export const plantedSecrets = ["zqbanksecret", "zqshopsecret", "zqnoisesecret"] as const;
export const columnsOf = { bank: ["bank_a", "bank_b"], shop: ["shop_a", "shop_b", "shop_c"] } as const;

export interface Person {
  readonly id: string;
  readonly bank: readonly string[];
  readonly shop: readonly string[];
  readonly label: string;
  readonly grade: number;
}

/** The same instances for all parties. Labels depend on the columns of both. */
export function makePeople(count = peopleCount): readonly Person[] {
  const random = new SeededRandom("people of a hostile job");
  return Array.from({ length: count }, (_, i) => {
    const values = Array.from({ length: 4 }, () => random.normal());
    const kind = random.below(5);
    const risk = values[0] - 2 * values[2] + (values[3] > 0 ? values[1] : 0.5) + (kind > 2 ? 1 : -1);
    const cells = values.map((value) => (random.uniform() < 0.05 ? "" : value.toFixed(7)));
    return {
      id: `zq${1000 + i}x`,
      bank: cells.slice(0, 2),
      shop: [...cells.slice(2), String(kind)],
      label: labelWords[risk + random.normal() / 2 > 0 ? 0 : 1],
      grade: risk < -1 ? 0 : risk < 1 ? 1 : 2,
    };
  });
}

/** A campaign is thousands of jobs in a day. */
export const shopExperiment: Experiment = {
  samplingSecret: plantedSecrets[1],
  noiseSecret: plantedSecrets[2],
  dailyLimits: { alignments: 1e9, jobs: 1e9, attempts: 1e9, histogram_requests: 1e9 },
};

export interface HostileWorldOptions {
  /** Whether a column of the shop has categories. Then every job must agree on them. */
  readonly hasCategories?: boolean;
  /** Default: that of the people. */
  readonly shopTable?: Table;
}

/** @param root a folder of their own */
export function foundHostileWorld(
  root: string,
  { hasCategories = false, shopTable }: HostileWorldOptions = {},
): Promise<ProcessWorld> {
  const people = makePeople();
  const bank = {
    header: ["id", ...columnsOf.bank, "outcome", "grade"],
    rows: people.map((person) => [person.id, ...person.bank, person.label, String(person.grade)]),
  };
  const shop = shopTable ?? {
    header: ["id", ...columnsOf.shop],
    rows: people.map((person) => [person.id, ...person.shop]),
  };
  return ProcessWorld.found(
    root,
    { bank, shop },
    {
      passive: {
        data: {
          path: "data.csv",
          id: "id",
          features: [...columnsOf.shop],
          categorical: hasCategories ? ["shop_c"] : [],
        },
        output: { directory: "jobs", contributions: true },
        threads: 1,
        policy: {
          schemes: ["paillier", "curve", "lattice"],
          lattice_minimums: "root",
          max_trees: 20,
          max_jobs: 16, // hostile requests under other names have places too, until their connection closes
          explanations: true,
          max_scores_per_person: 1e9,
          max_unfinished_jobs: 1e6,
          max_unfinished_megabytes: 1e9,
          budget: { daily: { ids: 1e9 } },
        },
      },
      active: {
        patience_seconds: 0,
        threads: 1,
        align: false,
        data: { features: [...columnsOf.bank], positive: labelWords[0] },
        training: {
          max_depth: 2,
          max_bin: 6,
          min_child_weight: 0,
          ...(hasCategories ? { enable_categorical: true, min_category_people: 1 } : {}),
        },
      },
      experiment: (name) => (name === "bank" ? { samplingSecret: plantedSecrets[0] } : shopExperiment),
    },
  );
}

export function bankConfig(
  world: ProcessWorld,
  port: number,
  job: string,
  { name: _name, task: _task, ...scenario }: Scenario,
  changes: ActiveChanges = {},
): Promise<ActiveConfig> {
  const keyless = (scenario.scheme ?? "paillier") !== "paillier" ? { insecure_key_bits: undefined } : {};
  const data = { ...scenario.data, ...changes.data };
  return world.activeConfig(job, { ...keyless, ...scenario, ...changes, data }, { ports: { shop: port } });
}
