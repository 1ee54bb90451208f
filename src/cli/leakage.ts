/** `--explain-leakage` and `--dry-run`: what a job will reveal to which party, printed before it starts. */
import type { Command } from "commander";
import type { DisclosureFacts } from "../privacy/disclosures.ts";

export interface LeakageFlags {
  readonly explainLeakage?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addLeakageOptions(command: Command): Command {
  return command
    .option("--explain-leakage", "first print what this reveals to which party; with --json as one line of JSON")
    .option("--dry-run", "read and check config and data, then stop without connecting");
}

/**
 * Prints what was asked for, before the start.
 * @param facts reads and checks the input, and throws where it would fail
 * @returns whether to continue
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
        "Config and data have been read and checked. Nothing was sent or written.\n" +
          "Run it without --dry-run to start.\n",
      );
  }
  return !dry;
}
