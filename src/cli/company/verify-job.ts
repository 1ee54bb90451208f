/** `tandem verify-job`: checks whether the parties of a job followed the protocol, and which did not. */
import { resolve } from "node:path";
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import type { Outcome } from "../../verify/findings.ts";
import { verdictText } from "../terminal/verdict-text.ts";
import { addExamples } from "../terminal/help-text.ts";
import { readFingerprint } from "./read-fingerprint.ts";

interface OpenFlags {
  readonly config: string;
  readonly job: string;
  readonly out?: string;
}

interface CheckFlags {
  readonly pin: readonly string[];
  readonly trees?: string;
  readonly json?: boolean;
}

export function verifyJobCommand(): Command {
  const command = new Command("verify-job").description(
    "after a job: open what a party has committed to, and check for deviations from the protocol",
  );
  command
    .command("open")
    .description("write what this party committed to into one file, for an auditor that all parties trust")
    .requiredOption("-c, --config <file>", "the party's config, as it was in the job")
    .requiredOption("--job <name>", "the name of the job")
    .option("--out <file>", "where to write it (default: <party>.opening in this folder)")
    .action(open);
  command
    .command("check")
    .description("replay the job from the openings of its parties, and report the first deviation")
    .argument("<opening...>", "the files written by 'verify-job open', one per party")
    .option(
      "--pin <name=certificate>",
      "a party's certificate, as you know it: its fingerprint or its PEM file; repeated for a renewed one",
      (pin: string, others: readonly string[]) => [...others, pin],
      [],
    )
    .option("--trees <list>", "compare ciphertexts of these trees only, counted from 0: 1-3,7 (default: of all)")
    .option("--json", "print the verdict as one line of JSON")
    .action(check);
  return addExamples(
    command,
    "tandem verify-job open -c active.yaml --job spring-model --out bank.opening",
    "tandem verify-job check bank.opening retailer.opening --pin bank=bank.pem --pin retailer=retailer.pem",
  );
}

async function open({ config, job, out }: OpenFlags): Promise<void> {
  const [{ openJob }, { writeOpening }] = await Promise.all([
    import("../../verify/open-job.ts"),
    import("../../verify/opening.ts"),
  ]);
  const opening = await openJob(config, job);
  const path = resolve(out ?? `${opening.name}.opening`);
  await writeOpening(path, opening);
  const holds =
    opening.role === "active"
      ? opening.active?.scheme === "paillier"
        ? "the labels, the binned columns and the PRIVATE KEY of this job"
        : "the labels and the binned columns of this job, and the seed of its secrets"
      : "the binned columns of this party and its secrets of this job";
  process.stderr.write(`It holds ${holds}. Give it only to the auditor.\n`);
  process.stdout.write(`${path}\n`);
}

/** Distinct from those of errors (docs/operate.md). */
const exitCodes: Readonly<Record<Outcome, number>> = { "as agreed": 0, deviated: 3, incomplete: 4 };

async function check(paths: readonly string[], flags: CheckFlags): Promise<void> {
  const trees = flags.trees === undefined ? null : treesFrom(flags.trees);
  const [{ checkOpenings }, { readOpening }, { outcomeOf }] = await Promise.all([
    import("../../verify/check.ts"),
    import("../../verify/opening.ts"),
    import("../../verify/findings.ts"),
  ]);
  const pins = await pinsFrom(flags.pin);
  const openings = await Promise.all(paths.map((path) => readOpening(resolve(path))));
  const verdict = await checkOpenings(openings, { pins, trees });
  const outcome = outcomeOf(verdict);
  process.stdout.write(`${flags.json === true ? JSON.stringify({ outcome, ...verdict }) : verdictText(verdict)}\n`);
  process.exitCode = exitCodes[outcome];
}

/** @throws TandemError USAGE, FILE_UNREADABLE or FILE_FORMAT */
async function pinsFrom(given: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const pins = new Map<string, readonly string[]>();
  for (const text of given) {
    const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === undefined)
      throw new TandemError("USAGE", `--pin takes a party's name and its certificate; got '${text}'`);
    const pin = /^[0-9a-f]{64}$/.test(value) ? value : await readFingerprint(resolve(value));
    pins.set(name, [...(pins.get(name) ?? []), pin]);
  }
  return pins;
}

/** @throws TandemError USAGE */
function treesFrom(text: string): ReadonlySet<number> {
  const trees = new Set<number>();
  for (const part of text.split(",")) {
    const range = /^\s*(\d{1,6})(?:-(\d{1,6}))?\s*$/.exec(part);
    const [first, last] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])];
    if (range === null || last < first)
      throw new TandemError("USAGE", `--trees takes numbers and ranges, as in 1-3,7; got '${text}'`);
    for (let tree = first; tree <= last; tree++) trees.add(tree);
  }
  return trees;
}
