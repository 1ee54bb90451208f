/**
 * Makes the fixtures of a release: what its parties leave on disk and send to each other. test/compatibility*.test.ts
 * read those of every release with the code at hand.
 *
 *   npm run build && node scripts/capture-fixtures.mjs
 *   node scripts/capture-fixtures.mjs --program <folder of a release>/bin/tandem.js
 *
 * Writes test/fixtures/v<version>/ or --out, and overwrites no artefacts. README.md and configs/ are written by hand;
 * configs begin as those of the last release. The people are generated, the keys are no secret, and Paillier keys are
 * short. scripts/unpack-fixtures.mjs unpacks what is in it.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundleOf } from "./fixtures/bundle.mjs";
import { foundCompanies, startShop, writeBankConfig, writeShopConfig } from "./fixtures/companies.mjs";
import { categoricalFeatures, companyJobs, interruptedJobs, tappedJobs } from "./fixtures/company-jobs.mjs";
import { documentedFields } from "./fixtures/documented-fields.mjs";
import { runTandem } from "./fixtures/run-command.mjs";
import { messagesIn } from "./fixtures/wire-messages.mjs";
import { tapWire } from "./fixtures/wire-tap.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: { program: { type: "string", default: join(root, "bin", "tandem.js") }, out: { type: "string" } },
});
const program = resolve(values.program);
const release = join(dirname(program), "..");
const { version } = JSON.parse(readFileSync(join(release, "package.json"), "utf8"));
const fixtures = join(root, "test", "fixtures");
const out = values.out ?? join(fixtures, `v${version.split(".").slice(0, 2).join(".")}`);
if (existsSync(join(out, "artefacts.json.gz")))
  throw new Error(`${out} has artefacts already, which later versions are held to; --out names another folder`);
const scratch = mkdtempSync(join(tmpdir(), "tandem-fixtures-"));
const captured = join(scratch, "captured");
const tandem = (...args) => runTandem(program, args);

/** Of jobs with a record; others keep their shares, predictions and consents. */
const recordFiles = ["events.jsonl", "own.jsonl", "transcript.jsonl", "evidence.json", "evidence"].concat(
  "alignment.json",
  "job.json",
  "progress.json",
);
const searchFiles = ["events.jsonl", "own.jsonl"];
const modelFiles = ["share.json", "predictions.csv", "consent.json"];

const companies = await foundCompanies(scratch);
const { bank, shop } = companies;
mkdirSync(captured);

await captureModels();
await captureInterrupted();
await captureMessages();
writeOut();
rmSync(scratch, { recursive: true });

/** Trained models, their consents, exports and scores; records, openings, budgets. */
async function captureModels() {
  for (const folder of ["exports", "scores", "openings"]) mkdirSync(join(captured, folder));
  const configs = { numbers: writeShopConfig(companies) };
  configs.categories = writeShopConfig(companies, "passive-categories", { features: categoricalFeatures });
  for (const kind of ["numbers", "categories"]) {
    const jobs = companyJobs.filter(({ withCategories }) => (withCategories === true) === (kind === "categories"));
    const party = await startShop(program, configs[kind]);
    for (const { job, record, changes } of jobs) {
      const config = writeBankConfig(companies, job, party.port, changes);
      await tandem("train", "-c", config, "--quiet");
      await scoreAndExport(job, config, configs[kind]);
      if (record) await openRecord(job, config, configs[kind]);
      console.log(job);
    }
    if (kind === "numbers") await captureSearch(party.port);
    await party.kill("SIGTERM");
  }
}

async function scoreAndExport(job, config, shopConfig) {
  const input = join(bank.folder, "score.csv");
  const scored = (kind) => join(captured, "scores", `${job}${kind}.csv`);
  const predict = ["predict", "-c", config, "--model", job, "--input", input];
  await tandem(...predict, "--output", scored(""));
  if (job === "credit") {
    await tandem(...predict, "--output", scored("-margins"), "--output-margin");
    await tandem(...predict, "--output", scored("-leaves"), "--pred-leaf");
    await tandem(...predict, "--output", scored("-contributions"), "--contributions");
  }
  const consent = join(shop.folder, "jobs", job, "consent.json");
  const purpose = "a fixture of the test suite";
  await tandem("model", "consent", "-c", shopConfig, "--model", job, "--to", bank.name, "--purpose", purpose, "--yes");
  const exported = join(captured, "exports", `${job}.json`);
  const xgboost = ["--to", "xgboost", "--consent", consent, "--out", exported];
  await tandem("model", "export", "-c", config, "--model", job, ...xgboost);
}

async function openRecord(job, config, shopConfig) {
  const openings = [
    [config, bank],
    [shopConfig, shop],
  ].map(([path, { name }]) => ({ path, out: join(captured, "openings", `${job}-${name}.opening`) }));
  for (const { path, out: to } of openings) await tandem("verify-job", "open", "-c", path, "--job", job, "--out", to);
  await tandem("verify-job", "check", ...openings.map(({ out: opening }) => opening));
}

/** The record of a search over parameters, which chooses its own name. The active party keeps none of it. */
async function captureSearch(port) {
  const config = writeBankConfig(companies, "search", port, { training: { num_round: 1 } });
  await tandem("tune", "-c", config, "--trials", "2", "--folds", "2", "--yes", "--quiet");
  rmSync(config);
  const job = readdirSync(join(shop.folder, "jobs")).find((name) => name.startsWith("tune-"));
  companyJobs.push({ job, isSearch: true });
  console.log(job);
}

/** Jobs that are killed after some trees, and their results when the same version resumes them. */
async function captureInterrupted() {
  const shopConfig = writeShopConfig(companies, "passive-interrupted", { directory: "interrupted" });
  for (const { job, changes } of interruptedJobs) {
    let party = await startShop(program, shopConfig);
    let config = writeBankConfig(companies, job, party.port, { ...changes, directory: "interrupted" });
    await trainUntil(config, 2);
    await party.kill("SIGKILL");
    const kept = {
      [bank.name]: join(bank.folder, "interrupted", job),
      [shop.name]: join(shop.folder, "interrupted", job),
    };
    for (const [name, folder] of Object.entries(kept))
      cpSync(folder, join(captured, name, "interrupted", job), {
        recursive: true,
        filter: (path) => !path.endsWith("aligned.csv"),
      });
    party = await startShop(program, shopConfig);
    config = writeBankConfig(companies, job, party.port, { ...changes, directory: "interrupted" });
    await tandem("train", "-c", config, "--quiet");
    await party.kill("SIGTERM");
    for (const [name, folder] of Object.entries(kept))
      for (const file of modelFiles)
        if (existsSync(join(folder, file)))
          cpSync(join(folder, file), join(captured, "resumed", job, `${name}-${file}`));
    console.log(job);
  }
}

/** Kills the active party when its record has a number of finished trees. */
function trainUntil(config, trees) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, "train", "-c", config, "--json"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      if ((said.match(/"type":"tree"/g)?.length ?? 0) >= trees) child.kill("SIGKILL");
    });
    child.once("close", (code, signal) =>
      signal === "SIGKILL" ? resolve() : reject(new Error(`the job ended before it was killed (${code}): ${said}`)),
    );
  });
}

async function captureMessages() {
  mkdirSync(join(captured, "messages"));
  for (const { job, shopFeatures, changes, predict } of tappedJobs) {
    const party = await startShop(
      program,
      writeShopConfig(companies, `passive-tapped-${job}`, { directory: "tapped", features: shopFeatures }),
    );
    const tap = await tapWire({ active: bank, passive: shop, port: party.port });
    const config = writeBankConfig(companies, job, tap.port, { ...changes, directory: "tapped" });
    await tandem("train", "-c", config, "--quiet");
    const [input, output] = [join(bank.folder, "score.csv"), join(scratch, `${job}.csv`)];
    await tandem("predict", "-c", config, "--model", job, "--input", input, "--output", output, ...predict);
    const lines = messagesIn(tap.streams).map((message) => `${JSON.stringify(message)}\n`);
    writeFileSync(join(captured, "messages", `${job}.jsonl`), lines.join(""));
    tap.close();
    await party.kill("SIGTERM");
    console.log(`messages of ${job}`);
  }
}

/** Bundles what is kept, and leaves alone what people have written. */
function writeOut() {
  for (const company of [bank, shop]) keepCompany(company);
  const configs = join(out, "configs");
  if (!existsSync(configs)) cpSync(join(lastRelease(), "configs"), configs, { recursive: true });
  writeFileSync(join(configs, "documented.json"), `${JSON.stringify(documentedFields(release), null, 1)}\n`);
  rmSync(join(out, "messages"), { recursive: true, force: true });
  cpSync(join(captured, "messages"), join(out, "messages"), { recursive: true });
  rmSync(join(captured, "messages"), { recursive: true });
  writeFileSync(join(out, "artefacts.json.gz"), bundleOf(captured));
  const [job] = readFileSync(join(bank.folder, "jobs", "credit", "events.jsonl"), "utf8").split("\n");
  const { protocol } = JSON.parse(job).versions;
  const about = { version, protocol, captured: new Date().toISOString() };
  writeFileSync(join(out, "capture.json"), `${JSON.stringify(about, null, 1)}\n`);
}

/** Configs of the next release begin as those of the last one. */
function lastRelease() {
  const last = readdirSync(fixtures)
    .filter((name) => /^v\d/.test(name) && join(fixtures, name) !== out)
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  if (last === undefined) throw new Error(`there are no configs in ${out}, and no earlier release has any`);
  return join(fixtures, last);
}

function keepCompany({ name, folder }) {
  const keep = (...path) => {
    if (!existsSync(join(folder, ...path))) return;
    cpSync(join(folder, ...path), join(captured, name, ...path), { recursive: true });
  };
  for (const file of readdirSync(folder)) if (/\.(csv|pem|yaml)$/.test(file)) keep(file);
  for (const { job, record, isSearch } of companyJobs) {
    const files = record ? [...recordFiles, ...modelFiles] : isSearch ? searchFiles : modelFiles;
    for (const file of files) keep("jobs", job, file);
  }
  keep("jobs", ".partners"); // budgets
}
