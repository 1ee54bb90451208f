/** A campaign of hostile jobs against real processes (test/world/hostile/campaign.ts). */
import { importSources } from "./import-sources.mjs";

/** @returns the exit code */
export async function runSwarm({ seed, jobs, messages, each, only, json }) {
  const [{ runCampaign }] = await importSources("test/world/hostile/campaign.ts");
  let shown = 0;
  const report = await runCampaign({
    seed: Number(seed),
    jobs: only === undefined ? Number(jobs) : Number(only),
    messages: only === undefined ? Number(messages) : 0,
    messagesPerJob: Number(each),
    only: only === undefined ? undefined : Number(only),
    onProgress({ jobCount, messages: changed, wrong }) {
      for (; shown < wrong.length; shown++) tell(wrong[shown]);
      if (jobCount % 50 === 0) console.error(`${jobCount} jobs, ${changed} messages changed, ${wrong.length} wrong`);
    },
  });
  for (; shown < report.wrong.length; shown++) tell(report.wrong[shown]);
  console.log(json ? JSON.stringify(report) : report);
  return report.wrong.length === 0 ? 0 : 1;
}

function tell({ job, what, replay }) {
  console.error(`job ${job}: ${what}\n  replay: ${replay}`);
}
