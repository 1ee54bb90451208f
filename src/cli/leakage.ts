/** `--explain-leakage` and `--dry-run`: what will be revealed to whom, before anything is. */
import type { Command } from "commander";
import type { DisclosureFacts } from "../privacy/disclosures.ts";

export interface LeakageFlags {
  readonly explainLeakage?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addLeakageOptions(command: Command): Command {
  return command
    .option("--explain-leakage", "first say what this will reveal to whom; with --json as a line of JSON")
    .option("--dry-run", "read and check everything, connect to nobody, and stop");
}

/**
 * Prints what was asked for, before the start.
 * @param facts reads and checks the input, and throws where it would fail
 * @returns whether to go on
 */
export async function explainFirst(
  flags: LeakageFlags,
  of: string,
  facts: () => Promise<readonly DisclosureFacts[]>,
): Promise<boolean> {
  if (flags.explainLeakage !== true && flags.dryRun !== true) return true;
  const { leakageOf, leakageText } = await import("../privacy/leakage.ts");
  const leakage = leakageOf(of, await facts());
  const dry = flags.dryRun === true;
  if (flags.json === true) {
    const shown = { ...(flags.explainLeakage === true ? { leakage } : {}), ...(dry ? { dryRun: true } : {}) };
    process.stdout.write(`${JSON.stringify(shown)}\n`);
  } else {
    if (flags.explainLeakage === true) process.stdout.write(`${leakageText(leakage)}\n\n`);
    if (dry)
      process.stdout.write(
        "Config and data have been read and checked. Nothing was sent to anybody, and nothing was written.\n" +
          "Without --dry-run it starts.\n",
      );
  }
  return !dry;
}
