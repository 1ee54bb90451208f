/** `tandem report`: a job's record as one HTML file, and the same at the end of a job. */
import { join, resolve } from "node:path";
import { Command } from "commander";
import { writeFileAtomically } from "../base/files/atomic-file.ts";

const reportFileName = "report.html";

export function reportCommand(): Command {
  return new Command("report")
    .description("write a job's record as one HTML file without scripts")
    .argument("<job folder>", "the folder of a job, with its record")
    .option("--out <file>", `where to write it (default: ${reportFileName} in the job's folder)`)
    .option("--public", "leave out what only this party may see: its splits and the curves of its scores")
    .action(async (folder: string, flags: { readonly out?: string; readonly public?: boolean }) => {
      const out = flags.out === undefined ? {} : { out: flags.out };
      process.stdout.write(`${await writeReport(folder, { ...out, withOwn: flags.public !== true })}\n`);
    });
}

/** @returns where it is. @throws TandemError FILE_UNREADABLE without a record, FILE_UNWRITABLE */
export async function writeReport(
  folder: string,
  { out, withOwn = true }: { readonly out?: string; readonly withOwn?: boolean } = {},
): Promise<string> {
  const { readRecord } = await import("../record/stored-record.ts");
  const views = await readRecord(resolve(folder));
  const { jobReport } = await import("../../web/report/reports.js");
  const path = out === undefined ? join(resolve(folder), reportFileName) : resolve(out);
  await writeFileAtomically(path, jobReport(views, new Date(), { withOwn }), 0o600);
  return path;
}
