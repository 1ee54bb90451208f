/** `tandem report`: a stored run as one HTML file, and the same at the end of a job. */
import { join, resolve } from "node:path";
import { Command } from "commander";
import { writeFileAtomically } from "../base/atomic-file.ts";

const reportFileName = "report.html";

export function reportCommand(): Command {
  return new Command("report")
    .description("write a recorded run as one HTML file without scripts")
    .argument("<run>", "the folder of a job")
    .option("--out <file>", `where to write it (default: ${reportFileName} in the job's folder)`)
    .option("--public", "leave out what only this party may see: its splits and the curves of its scores")
    .action(async (run: string, flags: { readonly out?: string; readonly public?: boolean }) => {
      const out = flags.out === undefined ? {} : { out: flags.out };
      process.stdout.write(`${await writeReport(run, { ...out, withOwn: flags.public !== true })}\n`);
    });
}

/** @returns where it is. @throws TandemError FILE_UNREADABLE without a record, FILE_UNWRITABLE */
export async function writeReport(
  folder: string,
  { out, withOwn = true }: { readonly out?: string; readonly withOwn?: boolean } = {},
): Promise<string> {
  const { readRun } = await import("../record/run-store.ts");
  const run = await readRun(resolve(folder));
  const { runReport } = await import("../report/run-report.ts"); // brings the plotting library with it
  const path = out === undefined ? join(resolve(folder), reportFileName) : resolve(out);
  await writeFileAtomically(path, runReport(run, new Date(), { withOwn }), 0o600);
  return path;
}
