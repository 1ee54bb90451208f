/**
 * Checks ARCHITECTURE.md's walk of one gradient against a job of three parties over TLS, with V8's call counts while
 * one tree grows. Exactly the files that the walk names must run for that tree, in the folders that it covers.
 */
import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { addJobOptions, type JobFlags, jobFrom } from "../src/cli/table/job-options.ts";
import { simulate } from "../src/simulate/simulate.ts";
import { scratchDirectory } from "./support/command.ts";
import { superviseInProcess } from "./world/in-process-parties.ts";

const root = join(import.meta.dirname, "..");
const source = `${join(root, "src")}/`;
/** The walk names all files of these folders that run. */
const complete = /^(?:codec|crypto|scheme|protocol\/sent|transport|wire)\/(?!generated\/)/;
/** Named by the walk for features that have categories, or many of them. */
const categorical = ["scheme/candidates/category-group.ts", "gbdt/split/category-partition.ts"];
const centralised = "gbdt/boost/train.ts";
/** Timers that run within a tree where the machine is busy: of an idle connection, and of an earlier test's server. */
const timers = ["heartbeat", "separate-calls", "party-service", "rate-limited-log"].map(
  (name) => `transport/${name}.ts`,
);

/** Files of src/ in which a function was called since the last call of this. */
function calledFiles(session: Session): ReadonlySet<string> {
  let scripts: readonly Profiler.ScriptCoverage[] = [];
  session.post("Profiler.takePreciseCoverage", (error, taken) => {
    if (error !== null) throw error;
    scripts = taken.result;
  });
  const called = scripts.filter(({ functions }) =>
    // The function without a name is the module.
    functions.some(({ functionName, ranges }) => functionName !== "" && ranges.some(({ count }) => count > 0)),
  );
  const paths = called.map(({ url }) => url.replace(/^file:\/\//, "").replace(/\?.*$/, ""));
  return new Set(paths.filter((path) => path.startsWith(source)).map((path) => path.slice(source.length)));
}

/** Of one section of ARCHITECTURE.md; `a/{b,c}.ts` is two files. */
function filesNamed(heading: string): readonly string[] {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const section = page.slice(page.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /)[0];
  const quoted = [...section.matchAll(/`([a-z0-9/-]+\/)(?:\{([a-z0-9,-]+)\}|([a-z0-9-]+))\.ts`/g)];
  return quoted.flatMap(([, folder, several, one]) => (several ?? one).split(",").map((name) => `${folder}${name}.ts`));
}

test("the walk of one gradient names exactly the files that run", async () => {
  const options = ["--data", join(root, "test/fixtures/identity-0.6/people.csv"), "--id", "id", "--label", "defaulted"];
  const columns = ["--positive", "yes", "--active", "income,age", "--passive", "basket,visits", "--passive", "limit"];
  const size = ["--insecure-key-bits", "256", "--num-round", "3", "--max-depth", "3"];
  const flags = addJobOptions(new Command())
    .parse([...options, ...columns, ...size], { from: "user" })
    .opts<JobFlags>();
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const ran = new Set<string>();
  await simulate(
    {
      ...jobFrom(flags),
      keep: { directory: scratchDirectory(), job: "walk" },
      check: false,
      onEvent(event) {
        if (event.type !== "tree") return;
        const called = calledFiles(session);
        if (event.tree > 0) for (const file of called) ran.add(file); // until the first tree is the set-up
      },
    },
    superviseInProcess,
  );
  session.disconnect();
  const named = new Set(filesNamed("The walk of one gradient"));
  for (const file of [...categorical, centralised, "test/architecture.test.ts"]) named.delete(file);
  expect(named.size).toBeGreaterThan(40);
  expect(
    [...named].filter((file) => !ran.has(file)),
    "named, and did not run",
  ).toEqual([]);
  expect(
    [...ran].filter((file) => complete.test(file) && ![...named, ...categorical, ...timers].includes(file)),
    "ran, and is not named",
  ).toEqual([]);
});
