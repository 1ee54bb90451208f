/**
 * Trains the jobs of scripts/fixtures/identity-jobs.mjs with a released version, and keeps what they gave:
 * test/identity.test.ts requires the same bytes of every later version.
 *
 *   node scripts/capture-identity.mjs --program <folder of 0.6>/bin/tandem.js --out test/fixtures/identity-0.6
 *
 * Run once, by the version that the goldens are named after.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { identityJobs } from "./fixtures/identity-jobs.mjs";
import { runTandem } from "./fixtures/run-command.mjs";
import { csvOf, makePeople } from "./fixtures/tables.mjs";

const { values } = parseArgs({
  options: {
    program: { type: "string", default: fileURLToPath(new URL("../bin/tandem.js", import.meta.url)) },
    out: { type: "string" },
  },
});
if (values.out === undefined) throw new Error("--out names the folder of the goldens");
const { program, out } = values;
const scratch = mkdtempSync(join(tmpdir(), "tandem-identity-"));
const records = join(scratch, "records");

mkdirSync(out, { recursive: true });
const data = join(out, "people.csv");
writeFileSync(data, csvOf(makePeople(240, 6)));

const jobs = [];
const goldens = {};
for (const { name, options, warmStart } of identityJobs) {
  const files = { predictions: join(scratch, `${name}.csv`), export: join(scratch, `${name}.json`) };
  const start = warmStart === undefined ? null : jobs.find((earlier) => earlier.name === warmStart).job;
  const { job, trees, metrics, identicalToCentralised } = JSON.parse(
    await runTandem(
      program,
      ["simulate", "--data", data, "--id", "id", "--check", "--quiet", "--json"].concat(
        options,
        ["--predictions", files.predictions, "--export", files.export, "--records", records],
        start === null ? [] : ["--warm-start", start],
      ),
    ),
  );
  if (!identicalToCentralised) throw new Error(`${name} is not identical to centralised training`);
  const parties = readdirSync(records).toSorted();
  const shares = parties
    .map((party) => join(records, party, job, "share.json"))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"));
  const [event] = readFileSync(join(records, "active", job, "events.jsonl"), "utf8").split("\n");
  const { tandem, protocol } = JSON.parse(event).versions;
  jobs.push({ name, job, ...(start === null ? {} : { warmStart: start }), tandem, protocol, options });
  goldens[name] = {
    trees,
    metrics,
    export: readFileSync(files.export, "utf8"),
    predictions: readFileSync(files.predictions, "utf8"),
    shares,
  };
  console.log(`${name}: ${trees} trees`);
}
writeFileSync(join(out, "jobs.json"), `[\n${jobs.map((job) => JSON.stringify(job)).join(",\n")}\n]\n`);
writeFileSync(join(out, "goldens.json.gz"), gzipSync(JSON.stringify(goldens), { level: 9 }));
rmSync(scratch, { recursive: true });
