/** A job's disclosures by the party that learns them: for the command line, and as one JSON object. */
import { disclosureText } from "./disclosure-text.ts";
import { gaugeOf, gaugeText, type JobGauge } from "./job-gauge.ts";
import {
  type Disclosure,
  disclosureEntries,
  type DisclosureFacts,
  type DisclosureName,
  disclosuresOf,
} from "./disclosures.ts";

export interface Leakage {
  /** A job's name, or a policy. */
  readonly of: string;
  readonly parties: readonly LearningParty[];
  /** Disclosures of docs/leakage.md that no pair of parties has. */
  readonly absent: readonly { readonly name: DisclosureName; readonly what: string }[];
  /** Per pair of parties, where it is known. */
  readonly gauges: readonly JobGauge[];
  /** Which form the preset of a job takes; left out: it has one form, or is not known. */
  readonly presetForm?: string;
  readonly reference: "docs/leakage.md";
}

export interface LearningParty {
  readonly party: string;
  readonly role: "active" | "passive";
  readonly learns: readonly Omit<Disclosure, "learner">[];
}

/** @param facts one for each pair of an active and a passive party */
export function leakageOf(of: string, facts: readonly DisclosureFacts[]): Leakage {
  const pairs = facts.map(disclosuresOf);
  const reveals = pairs.flatMap((pair) => pair.reveals);
  const party = (name: string, role: LearningParty["role"]): LearningParty => ({
    party: name,
    role,
    learns: reveals
      .filter((one) => one.learner === name && disclosureEntries[one.name]?.learner === role)
      .map(({ learner: _party, ...rest }) => rest),
  });
  const presetForm = facts[0]?.presetForm ?? null;
  const unique = (names: readonly string[]): string[] => [...new Set(names)];
  return {
    of,
    parties: [
      ...unique(facts.map(({ active }) => active)).map((name) => party(name, "active")),
      ...unique(facts.map(({ passive }) => passive)).map((name) => party(name, "passive")),
    ],
    absent: Object.entries(disclosureEntries)
      .map(([name, { what }]) => ({ name: name as DisclosureName, what }))
      .filter(({ name }) => pairs.every(({ absent }) => absent.includes(name))),
    gauges: facts.map(gaugeOf).filter((gauge) => gauge !== null),
    ...(presetForm === null ? {} : { presetForm }),
    reference: "docs/leakage.md",
  };
}

/** One block per party, then the disclosures that are absent. */
export function leakageText({ of, parties, absent, gauges, presetForm, reference }: Leakage): string {
  const blocks = parties.map(({ party, role, learns }) => {
    const others = [...new Set(learns.map(({ about }) => about))];
    const lines = others.flatMap((about) => [
      `  of ${about}:`,
      ...learns.filter((one) => one.about === about).map((one) => `  - ${disclosureText(one)}`),
    ]);
    return [
      `${party}, ${role === "active" ? "the active party" : "a passive party"}, learns`,
      ...(lines.length === 0 ? ["  nothing"] : lines),
      "",
    ].join("\n");
  });
  const rest =
    absent.length === 0 ? [] : ["Not revealed in this case:", ...absent.map(({ what }) => `  - ${what}`), ""];
  return [
    `What ${of} reveals, and to whom`,
    "",
    ...(presetForm === undefined ? [] : [`${presetForm}.`, ""]),
    ...blocks,
    ...rest,
    ...(gauges.length === 0 ? [] : [...gauges.map(gaugeText), ""]),
    `Numbers are upper bounds of what is sent. ${reference} in the repository explains each item, and what can be ` +
      "computed from it.",
  ].join("\n");
}
