/**
 * What each preset reveals with each scheme, by the attacks on a training of its own, and what it takes, by the cost
 * models of `tandem estimate`. A preset may have another form with another scheme.
 */
import { assert } from "../../base/assert.ts";
import type { MembershipFacts } from "../../base/membership.ts";
import type { GivenJob } from "../../party/resolve-job.ts";
import type { PresetCost, PresetExposure, PresetOutlook, SchemeExposure } from "../../privacy/attack/audit-result.ts";
import { defenceNames, type Preset, presets } from "../../privacy/defences/defences.ts";
import type { Job } from "../../protocol/job.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { type Estimate, Outlooks, schemesBeside } from "../estimate.ts";
import type { PreparedSimulation } from "../prepare-simulation.ts";
import { type AttackBudget, sumsAreExact } from "./attack-budget.ts";
import { type Attacked, attacked } from "./attacked.ts";
import { sumsText } from "./preset-price.ts";
import type { AuditedJob } from "./recorded-training.ts";

/** Between companies; the time of a job with hidden sums is mostly spent on it. */
const usualLine = { megabitsPerSecond: 100, roundTripMs: 20 };

interface Trained {
  readonly preset: Preset;
  readonly job: Job;
  readonly cost: PresetCost;
}

type Row = Trained | Omit<PresetOutlook, "isOfJob">;

export class PresetOutlooks {
  /** Attacks on exact sums that `rows` will run. */
  readonly attacks: number;
  readonly #asItIs: AuditedJob;
  readonly #rows: readonly Row[];

  private constructor(asItIs: AuditedJob, rows: readonly Row[]) {
    this.#asItIs = asItIs;
    this.#rows = rows;
    const groups = groupsOf(rows).filter(([row]) => sumsAreExact(row.job.privacy) && !isSameTraining(row, asItIs.job));
    this.attacks = groups.reduce((sum, group) => sum + schemesAttacked(group).length, 0);
  }

  /** Estimates every preset with every scheme. */
  static async of(prepared: PreparedSimulation, given: GivenJob, asItIs: AuditedJob): Promise<PresetOutlooks> {
    const outlooks = new Outlooks(prepared, { line: usualLine });
    const rows: Row[] = [];
    for (const preset of presets) {
      const asked = { ...given, privacy: { privacy: preset } };
      for (const scheme of schemesBeside(prepared.job.scheme)) {
        const { estimate, refusal } = await outlooks.of(asked, scheme);
        if (estimate === null) {
          rows.push({ preset, scheme, sums: "-", refusal, exposure: null, cost: null });
          continue;
        }
        rows.push({ preset, job: outlooks.job(asked, scheme), cost: costOf(estimate) });
      }
    }
    return new PresetOutlooks(asItIs, rows);
  }

  /** @param first the job as it is: a preset that trains the same is not trained again */
  async rows(first: Attacked, budget: AttackBudget): Promise<PresetOutlook[]> {
    const found = new Map<Row, SchemeExposure>();
    for (const group of groupsOf(this.#rows)) {
      const [{ preset, job }] = group;
      const [, ...others] = schemesAttacked(group);
      const { schemes } = isSameTraining(group[0], this.#asItIs.job)
        ? first
        : await attacked(`privacy ${preset}, ${job.scheme}`, { ...this.#asItIs, job }, budget, others);
      for (const row of group) {
        const exposure = schemes.find(({ membership }) => membership.name === membershipOf(row.job));
        if (exposure !== undefined) found.set(row, exposure);
      }
    }
    return this.#rows.map((row) => {
      const { scheme } = "job" in row ? row.job : row;
      const isOfJob = scheme === this.#asItIs.job.scheme;
      if (!("job" in row)) return { ...row, isOfJob };
      const { preset, job, cost } = row;
      const exposure = found.get(row);
      return {
        preset,
        scheme,
        isOfJob,
        sums: sumsText(job.privacy),
        refusal: null,
        exposure: exposure === undefined ? null : exposureOf(exposure),
        cost,
      };
    });
  }
}

function costOf({ wallSeconds, overLine, bytes }: Estimate): PresetCost {
  assert(overLine !== undefined, "the line was asked about");
  return {
    seconds: wallSeconds,
    overLine: { ...usualLine, seconds: overLine.wallSeconds },
    bytes: bytes.activeToPassive + bytes.passiveToActive,
  };
}

/** Rows that are trained alike: the same defences, and minimums that hold for the same nodes. */
function groupsOf(rows: readonly Row[]): readonly (readonly [Trained, ...Trained[]])[] {
  const groups: [Trained, ...Trained[]][] = [];
  for (const row of rows) {
    if (!("job" in row)) continue;
    const group = groups.find(([{ preset, job }]) => preset === row.preset && isSameTraining(row, job));
    if (group === undefined) groups.push([row]);
    else group.push(row);
  }
  return groups;
}

function isSameTraining({ job: a }: Trained, b: Job): boolean {
  const isAlike = defenceNames.every((name) => a.privacy[name] === b.privacy[name]);
  return isAlike && (a.privacy.min_people_share === 0 || membershipOf(a) === membershipOf(b));
}

/** One of each training protocol: schemes of one protocol reveal the same. */
function schemesAttacked(group: readonly Trained[]): string[] {
  const byMembership = new Map(group.map(({ job }) => [membershipOf(job), job.scheme] as const).reverse());
  const [{ job: first }] = group;
  return [first.scheme, ...[...byMembership.values()].filter((scheme) => scheme !== first.scheme)];
}

function membershipOf({ scheme }: Pick<Job, "scheme">): MembershipFacts["name"] {
  return schemeNamed(scheme).membership;
}

function exposureOf({ bits, toldBits, sumsBound, labelsAuc, isComplete }: SchemeExposure): PresetExposure {
  return {
    bits,
    outcomes: toldBits.outcomes,
    sums: sumsBound ?? Math.max(0, toldBits.sums - toldBits.outcomes),
    sumsAreBound: sumsBound !== null,
    scores: toldBits.scoring,
    labelsAuc,
    isComplete,
  };
}
