/** Formats the verdict of `tandem verify-job check`. */
import type { Finding, TreeVerdict, Verdict } from "../../verify/findings.ts";
import { deviations, outcomeOf } from "../../verify/findings.ts";
import { peerText } from "../../wire/peer-text.ts";

export function verdictText(verdict: Verdict): string {
  const { job, parties, records, trees, notChecked } = verdict;
  const names = parties.map(peerText).join(" and ");
  const lines = [`job ${peerText(job)}, opened by ${names}`, ""];
  lines.push(
    records.length === 0
      ? "certificates, commitments, signatures and chains: valid"
      : records.map((finding) => `evidence: ${findingText(finding)}`).join("\n"),
  );
  for (const run of runsOf(trees)) lines.push(runText(run));
  for (const what of notChecked) lines.push(`not checked: ${peerText(what)}`);
  lines.push("", conclusion(verdict));
  return lines.join("\n");
}

function conclusion(verdict: Verdict): string {
  switch (outcomeOf(verdict)) {
    case "deviated":
      return blameText(deviations(verdict));
    case "incomplete":
      return "Incomplete: no deviation was found, but not everything was checked.";
    case "as agreed":
      return "As agreed: everything that the parties signed was checked.";
  }
}

function blameText(found: readonly Finding[]): string {
  const names = new Set(found.flatMap(({ party }) => (party === null ? [] : [peerText(party)])));
  return names.size === 0
    ? "A party deviated. The evidence does not show which."
    : `${[...names].join(" and ")} deviated.`;
}

function findingText({ party, tree, what }: Finding): string {
  const where = tree === null ? "" : `tree ${tree}: `;
  return `${where}${party === null ? "undecided" : peerText(party)}: ${peerText(what)}`;
}

/** Groups consecutive trees with the same state. */
function runsOf(trees: readonly TreeVerdict[]): TreeVerdict[][] {
  const runs: TreeVerdict[][] = [];
  for (const verdict of trees) {
    const last = runs.at(-1);
    if (last !== undefined && last[0].state === verdict.state && verdict.finding === null) last.push(verdict);
    else runs.push([verdict]);
  }
  return runs;
}

const states: Readonly<Record<TreeVerdict["state"], string>> = {
  "as agreed": "as agreed",
  begun: "begun and not finished; its gradients are as agreed",
  plain: "as agreed, ciphertexts not compared",
  deviates: "deviates",
  "not checked": "not checked",
};

function runText(run: readonly TreeVerdict[]): string {
  const [{ tree, state, finding }] = run;
  if (finding !== null) return findingText(finding);
  const last = run[run.length - 1].tree;
  return `${tree === last ? `tree ${tree}` : `trees ${tree} to ${last}`}: ${states[state]}`;
}
