/** Sets of jobs through a relay (relayed-jobs.ts), until a number of processes were killed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RelayedCompanies, type SetOutcome } from "./relayed-jobs.ts";

export interface RelayedCampaignOptions {
  readonly seed: number;
  readonly count: number;
  /** Only the set with this number. */
  readonly only?: number | undefined;
  /** Sets at the same time. */
  readonly lanes: number;
  readonly onSet: (set: number, report: RelayedReport, outcome: SetOutcome) => void;
}

export interface RelayedReport {
  readonly seed: number;
  sets: number;
  kills: number;
  /** How often: by who was killed. */
  readonly killed: Record<string, number>;
  /** Certificates that were replaced while jobs were under way, by company. */
  readonly renewed: Record<string, number>;
  readonly errors: string[];
  longestSeconds: number;
  readonly wrong: { readonly set: number; readonly what: string; readonly replay: string; readonly folder: string }[];
}

export async function runRelayedCampaign(options: RelayedCampaignOptions): Promise<RelayedReport> {
  const { seed, count, only, lanes, onSet } = options;
  const root = await mkdtemp(join(tmpdir(), "tandem-relayed-kills-"));
  const companies = await RelayedCompanies.found(root);
  const report: RelayedReport = {
    seed,
    sets: 0,
    kills: 0,
    killed: {},
    renewed: {},
    errors: [],
    longestSeconds: 0,
    wrong: [],
  };
  let next = only ?? 0;
  const lane = async (): Promise<void> => {
    while (only === undefined ? report.kills < count : next === only) {
      const set = next++;
      const folder = join(root, `set-${set}`);
      const outcome = await companies.run(seed, set, folder);
      report.sets++;
      report.kills += outcome.kills.length;
      for (const name of outcome.kills) report.killed[name] = (report.killed[name] ?? 0) + 1;
      if (outcome.renewed !== null) report.renewed[outcome.renewed] = (report.renewed[outcome.renewed] ?? 0) + 1;
      report.errors.push(...outcome.errors);
      report.longestSeconds = Math.max(report.longestSeconds, outcome.seconds);
      if (outcome.failure === null) await rm(folder, { recursive: true });
      else
        report.wrong.push({
          set,
          what: outcome.failure,
          replay: `npm run kills -- --relay --seed ${seed} --only ${set}`,
          folder,
        });
      onSet(set, report, outcome);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (report.wrong.length === 0) await rm(root, { recursive: true });
  return report;
}
