/** What a job reveals, what a partner has had in all jobs, and what its owner should look at. */
import * as z from "zod/mini";
import type { Immutable } from "../../base/immutable.ts";
import { emptyLedger, type Ledger, ledgerEntries, ledgerNames } from "../../messages/ledger.ts";
import { roundedUp } from "../../base/text/format.ts";
import { openedBitsMax, reachOfSums, type Spending } from "../../privacy/spending.ts";
import { event } from "../event.ts";
import { number, text } from "../fields.ts";
import { info, warn } from "../log-line.ts";

const alarmsShown = 10;

/** Records of earlier versions do not have these. */
type Later = "openedPerPerson" | "vettings";
const spending: z.ZodMiniType<Omit<Spending, Later> & Partial<Pick<Spending, Later>>> = z.object({
  sumsPerPerson: number,
  openedPerPerson: z.exactOptional(number),
  noisySumsPerPerson: number,
  outcomesPerPerson: number,
  scoredPeople: number,
  vettings: z.exactOptional(number),
});
/** What a policy allows one partner over all jobs, as its config names it; left out: no limit. */
const budgetLimits = z.object({
  sums_per_person: z.optional(number),
  noisy_sums_per_person: z.optional(number),
  outcomes_per_person: z.optional(number),
  scored_people: z.optional(number),
  vettings: z.optional(number),
});
/** What a partner has requested on a day (UTC), and the limits, by the names of the config. */
const dayUse = z.object({ day: text, used: z.record(text, number), limits: z.record(text, number) });
const budget = { peer: text, spent: spending, limits: budgetLimits, today: z.exactOptional(dayUse) };

export type PartnerBudget = Immutable<z.infer<z.ZodMiniObject<typeof budget>>>;

export const privacyEvents = {
  /** Counts of this attempt, by the names of messages/ledger.ts; records of earlier versions may lack some. */
  ledger: event(
    { peer: text, ledger: z.record(text, number) },
    {
      fold: (view, { peer, ledger }) => {
        view.ledgers.set(peer, addedLedgers(view.earlierLedgers.get(peer) ?? emptyLedger(), ledger));
      },
    },
  ),
  /** At a passive party: what the active one has received in all jobs, and the limits. */
  budget: event(budget, {
    log: ({ peer, spent }) => {
      const { sumsPerPerson, openedPerPerson = 0, noisySumsPerPerson, outcomesPerPerson, scoredPeople } = spent;
      const bits = roundedUp(openedBitsMax(openedPerPerson));
      return info(
        `${peer} got ${rounded(sumsPerPerson)} exact sums per person in all jobs (${reachOfSums(sumsPerPerson)}), ` +
          `${rounded(openedPerPerson)} of best candidates only (at most ${bits} bits), ` +
          `${rounded(noisySumsPerPerson)} with noise, ${rounded(outcomesPerPerson)} outcomes, ${scoredPeople} scores`,
        { peer, sumsPerPerson, openedPerPerson, noisySumsPerPerson, outcomesPerPerson, scoredPeople },
      );
    },
    fold: (view, { peer, spent, limits, today }) => {
      view.budget = { peer, spent, limits, ...(today === undefined ? {} : { today }) };
    },
  }),
  /** Another party behaves in a way that honest parties rarely do, or a limit is nearly reached. */
  alarm: event(
    { peer: text, words: text },
    {
      log: ({ peer, words }) => warn(`ALARM about ${peer}: ${words}`, { peer, words }),
      terminal: { of: "any" },
      fold: (view, { peer, words }) => {
        // Every attempt may repeat it.
        const isKnown = view.alarms.some((alarm) => alarm.peer === peer && alarm.words === words);
        if (view.alarms.length < alarmsShown && !isKnown) view.alarms = [...view.alarms, { peer, words }];
      },
      counter: { name: "tandem_alarms_total", help: "Alarms that need attention." },
    },
  ),
  /** A remark about this party's own data or config for its owner; not an error. */
  notice: event(
    { words: text },
    {
      log: ({ words }) => warn(words, { words }),
      terminal: { of: "any", isOnce: true, line: ({ words }) => `note: ${words}` },
    },
  ),
};

/** Each attempt counts from zero. */
function addedLedgers(earlier: Ledger, present: Readonly<Record<string, number>>): Ledger {
  const sum = emptyLedger();
  for (const name of ledgerNames)
    sum[name] = (present[name] ?? 0) + (ledgerEntries[name].isOncePerJob === true ? 0 : earlier[name]);
  return sum;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(2)));
}
