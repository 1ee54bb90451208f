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
    const place = ({ moduleId, project }: TestSpecification): number => {
      const known = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      // Parts come last and together: a process that has begun with them goes on with them.
      return known >= 0 ? known : project.name === "parts" ? longest.length + 1 : longest.length;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

const besideSources = ["src", "web", "lab", "test/world"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.test\.tsx?$/.test(path))
    .map((path) => join(folder, path)),
);
/** A file that replaces modules must not share them with others. */
const replacing = [...besideSources, ...readdirSync("test").map((name) => join("test", name))].filter(
  (path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes("vi.mock("),
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
    globalSetup: "scripts/build-threads.mjs",
    sequence: { sequencer: LongestFirst },
    // Half a second of every file would go into loading the same modules again.
    isolate: false,
    // Jobs allocate much that dies young. In single runs on a busy machine a larger young generation saved a fifth of
    // the CPU time of test/oracle-features.test.ts, and nothing in src/gbdt. The cores are busy with other files.
    execArgv: ["--max-semi-space-size=64", "--single-threaded-gc"],
    projects: [
      {
        extends: true,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: ["test/world/**", ...replacing, ...(isCampaign ? [] : ["test/campaigns/**"])],
        },
      },
      { extends: true, test: { name: "parts", include: besideSources, exclude: replacing } },
      { extends: true, test: { name: "replacing", include: replacing, isolate: true } },
    ],
  },
});
