import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { isCampaign } from "./test/support/campaign.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files of test/ that take longest. They begin first: a long one that begins last keeps one core waiting for the other.
 */
const longest = [
  "dashboard",
  "simulate",
  "oracle",
  "oracle-offers",
  "oracle-masked",
  "crash",
  "faults",
  "hostile",
  "cheats",
  "dashboard-live",
  "warm-start-parties",
  "oracle-features",
  "oracle-categorical",
  "terminal",
  "bad-disks",
  "services",
  "serving",
  "scoring",
  "connection-loss",
  "real-data",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const known = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return known >= 0 ? known : longest.length + (moduleId.includes("/test/") ? 0 : 1);
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/** A file that replaces modules must not share them with others. */
const replacing = ["src", "web", "lab", "test"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => join(folder, path))
    .filter((path) => readFileSync(path, "utf8").includes("vi.mock(")),
);

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    css: true, // reports hold their styles as text
    reporters: process.env["CI"] ? ["dot"] : ["default"],
    // For machines that are five times slower, and busy. A test that hangs fails all the same.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 3,
    globalSetup: ["scripts/build-threads.mjs", "test/support/memory-folder.ts"],
    sequence: { sequencer: LongestFirst },
    // Half a second of every file would go into loading the same modules again.
    isolate: false,
    // Jobs allocate much that dies young. In single runs on a busy machine a larger young generation saved a fifth of
    // the CPU time of test/oracle-features.test.ts, and nothing in src/gbdt. The cores are busy with other files.
    // The modules that all files share are marked in each collection of the old generation: five times as much memory
    // before the next one saves a fifteenth of the CPU time of tests of whole jobs.
    // Functions that run for a moment are not worth optimising: a fifth less CPU (src/base/scheduling/v8-settings.ts).
    execArgv: [
      "--max-semi-space-size=64",
      "--single-threaded-gc",
      "--heap-growing-percent=400",
      ...(process.versions.v8.startsWith("11.") ? ["--interrupt-budget=1000000"] : []),
    ],
    projects: [
      // One project: each transforms the modules anew, and has workers of its own that load them.
      {
        extends: true,
        test: {
          name: "sharing",
          include: ["{src,web,lab,test}/**/*.test.{ts,tsx}"],
          exclude: [...replacing, ...(isCampaign ? [] : ["test/campaigns/**"])],
        },
      },
      { extends: true, test: { name: "replacing", include: replacing, isolate: true } },
    ],
  },
});
