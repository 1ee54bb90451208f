/** A job trained in one place, and every attack on what its parties would have seen. */
import { availableParallelism } from "node:os";
import type { LabelExposure, PartyExposure, SchemeExposure, WhatIf } from "../../privacy/attack/audit-result.ts";
import { guessLabels } from "../../privacy/attack/cells.ts";
import { exposureOf } from "../../privacy/attack/exposure.ts";
import { type AttackBudget, sumsAreExact } from "./attack-budget.ts";
import { type AuditedJob, type RecordedTraining, type SchemeDisclosure, trainRecorded } from "./recorded-training.ts";
import { bestGuess, type AttackedScheme, mean, schemeRow } from "./scheme-row.ts";

/** Labels that the passive party is assumed to know in the second label attack. */
const knownLabels = 200;

export interface Attacked {
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
  readonly row: WhatIf;
  /** Revealed by outcomes in training, mean over the parties. */
  readonly outcomeBits: number;
  /** The job's own scheme first. */
  readonly schemes: readonly SchemeExposure[];
}

/** @param others schemes under which the same training is recorded as well */
export async function attacked(
  name: string,
  job: AuditedJob,
  budget: AttackBudget,
  others: readonly string[] = [],
): Promise<Attacked> {
  budget.report(`${name}: training`, 0);
  const trained = await trainRecorded(job, others);
  const found: AttackedScheme[] = [];
  for (const [at, sent] of trained.schemes.entries()) {
    const step = at === 0 ? name : `${name}, with ${sent.scheme}`;
    const { scheme, membership } = sent;
    const parties = await exposures(step, sent, budget);
    found.push({ scheme, membership, parties, labels: labelExposures(trained, sent) });
    if (sumsAreExact(job.job.privacy)) budget.jobEnded();
  }
  const [{ parties, labels }] = found;
  const bounds = parties.flatMap(({ columns }) => columns.flatMap(({ sumsBound }) => sumsBound ?? []));
  return {
    parties,
    labels,
    outcomeBits: mean(parties.map(({ bits, left }) => bits - left.outcomes)) ?? 0,
    schemes: found.map((each, at) => schemeRow(each, at === 0, job.job.privacy)),
    row: {
      name,
      testMetric: trained.testMetric,
      certain: mean(parties.map(({ certain }) => certain.sums)) ?? 0,
      scoringBits: mean(parties.map(({ bits, left }) => Math.max(0, bits - left.scoring))) ?? 0,
      sumsBound: mean(bounds),
      labelsAuc: bestGuess(labels),
    },
  };
}

async function exposures(step: string, { parties }: SchemeDisclosure, budget: AttackBudget): Promise<PartyExposure[]> {
  const found: PartyExposure[] = [];
  for (const [i, party] of parties.entries()) {
    const clock = budget.clock(`${step}: attacking ${party.name}`, parties.length - i);
    found.push(await exposureOf(party, clock, availableParallelism()));
  }
  return found;
}

function labelExposures(
  { labels, margins }: RecordedTraining,
  { parties, membership }: SchemeDisclosure,
): LabelExposure[] {
  const { membersAreSent } = membership;
  return parties.map(({ name, transcript, instances }) => ({
    party: name,
    membersAreSent,
    guess: membersAreSent ? margins && guessLabels(transcript, labels, instances, margins, knownLabels) : null,
  }));
}
