/**
 * Files of earlier releases (test/fixtures/v*) are read and used with the same results, or refused in one line that
 * says what to do.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseDocument } from "yaml";
import { TandemError } from "../src/base/error.ts";
import { writeReport } from "../src/cli/report.ts";
import { allIterations } from "../src/gbdt/tree/iterations.ts";
import { runActive } from "../src/party/active/run.ts";
import { readActiveConfig, readPassiveConfig } from "../src/party/config/config.ts";
import { readWorkerConfig } from "../src/party/config/crew-config.ts";
import { exportModel } from "../src/party/model/export-model.ts";
import { RecordReader } from "../src/record/stored-record.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import type { OutputKind } from "../src/scoring/wanted.ts";
import { auditJob } from "../src/simulate/audit/audit-job.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { openJob } from "../src/verify/open-job.ts";
import { readOpening } from "../src/verify/opening.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { scratchDirectory } from "./support/command.ts";
import { OldRelease, releases } from "./support/old-release.ts";

describe.each(releases)("artefacts of %s", (name) => {
  const release = new OldRelease(name, scratchDirectory());
  const scratch = scratchDirectory();
  const isSameWire = release.protocol === protocolVersion;
  const shopConfigs = { numbers: "passive.yaml", categories: "passive-categories.yaml" };
  const shopConfigOf = (job: string): string =>
    job.includes("categories") ? shopConfigs.categories : shopConfigs.numbers;

  // Certificates of fixtures are valid for a day.
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: release.captured, shouldAdvanceTime: true });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  describe("models", () => {
    const kinds: Readonly<Record<string, OutputKind>> = {
      margins: "margin",
      leaves: "leaf",
      contributions: "contributions",
    };
    test.each([shopConfigs.numbers, shopConfigs.categories])("predict, with %s", async (shopConfig) => {
      const port = await release.startShop(shopConfig);
      const files = release.list("scores").filter((file) => shopConfigOf(file) === shopConfig);
      for (const file of files) {
        const [, job = "", kind = ""] = /^(.*?)(?:-(margins|leaves|contributions))?\.csv$/.exec(file) ?? [];
        const output = join(scratch, file);
        await runPredict(await release.bankConfig(job, port), {
          model: job,
          input: release.path("bank", "score.csv"),
          output,
          unknown: "refuse",
          wanted: { kind: kinds[kind] ?? "prediction", iterations: allIterations },
          onProgress: () => {},
        });
        expect(readFileSync(output, "utf8"), file).toBe(release.read("scores", file));
      }
      expect(files.length).toBeGreaterThan(0);
    });

    test.each(release.list("exports"))("merge with the consent into %s", async (file) => {
      const job = file.replace(".json", "");
      const out = join(scratch, file);
      const consents = [release.path("shop", "jobs", job, "consent.json")];
      await exportModel(await release.bankConfig(job, 1), { job, consents, out });
      expect(readFileSync(out, "utf8")).toBe(release.read("exports", file));
    });

    test("training continues from them", async () => {
      const job = "credit-continued";
      const before = ["bank", "shop"].map((party) => release.read(party, "jobs", job, "share.json"));
      for (const party of ["bank", "shop"]) rmSync(release.path(party, "jobs", job), { recursive: true });
      const port = await release.startShop(shopConfigs.numbers);
      await runActive(await release.bankConfig(job, port), () => {});
      const after = ["bank", "shop"].map((party) => release.read(party, "jobs", job, "share.json"));
      expect(after.map(withoutId)).toEqual(before.map(withoutId));
      if (isSameWire) expect(after).toEqual(before);
    });
  });

  test("spent budgets still count", async () => {
    const port = await release.startShop(shopConfigs.numbers, { budget: { scored_people: 100 } });
    const predicting = runPredict(await release.bankConfig("credit", port), {
      model: "credit",
      input: release.path("bank", "score.csv"),
      output: join(scratch, "refused.csv"),
      unknown: "refuse",
      onProgress: () => {},
    });
    await expect(predicting).rejects.toThrow(/the budget of shop .* does not allow this.*scored_people/);
  });

  describe("records", () => {
    const records = ["bank", "shop"].flatMap((party) =>
      release
        .list(party, "jobs")
        .filter((job) => existsSync(release.path(party, "jobs", job, "events.jsonl")))
        .map((job) => [party, job] as const),
    );
    test.each(records)("of %s: %s is read whole, and a report is made of it", async (party, job) => {
      const folder = release.path(party, "jobs", job);
      const { events, own } = await new RecordReader(folder).next();
      const linesOf = (file: string): number => release.read(party, "jobs", job, file).trim().split("\n").length;
      expect([events.length, own.length]).toEqual([linesOf("events.jsonl"), linesOf("own.jsonl")]);
      const report = readFileSync(await writeReport(folder, { out: join(scratch, `${party}-${job}.html`) }), "utf8");
      for (const word of [job, "bank", "shop", "</html>"]) expect(report).toContain(word);
    });

    test.each(records.filter(([, job]) => job.startsWith("credit")))(
      "of %s: the transcript of %s is audited",
      async (party, job) => {
        const audit = await auditJob(release.path(party, "jobs", job), { left: () => 0, progress: () => {} });
        expect(audit.party).toBe(party);
      },
    );
  });

  describe("evidence", () => {
    test.each(["credit", "credit-lattice"])("openings of %s prove that both parties followed the protocol", (job) =>
      expectVerified(() =>
        Promise.all(["bank", "shop"].map((party) => readOpening(release.path("openings", `${job}-${party}.opening`)))),
      ),
    );

    test("of credit is opened", () =>
      expectVerified(() =>
        Promise.all(
          ["bank/active-credit.yaml", "shop/passive.yaml"].map((config) => openJob(release.path(config), "credit")),
        ),
      ));

    /** With another wire version it may be refused, but no party is accused of a deviation. */
    async function expectVerified(open: () => Promise<Parameters<typeof checkOpenings>[0]>): Promise<void> {
      try {
        const { records, trees } = await checkOpenings(await open(), { pins: new Map(), trees: null });
        expect(records).toEqual([]);
        expect(trees.length).toBeGreaterThan(0);
        expect(trees.flatMap(({ finding }) => finding ?? [])).toEqual([]);
      } catch (error) {
        if (isSameWire) throw error;
        expectOneLine(error);
      }
    }
  });

  describe("checkpoints", () => {
    /** Jobs that cannot be resumed, with the error for each. */
    const refused: Readonly<Record<string, RegExp>> = {
      interrupted: /begun with 0\.6: finish it with that version/,
      "interrupted-lattice": /begun with 0\.6: finish it with that version/,
    };

    test.each(release.list("resumed"))("%s resumes to the same model", async (job) => {
      const port = await release.startShop("passive-interrupted.yaml");
      const seen: string[] = [];
      const running = runActive(await release.bankConfig(job, port, { patience_seconds: 0 }), ({ type }) =>
        seen.push(type),
      );
      if (refused[job] !== undefined) {
        const error = await running.then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(expectOneLine(error)).toMatch(refused[job]);
        return;
      }
      await running;
      expect(seen).toContain("resumed");
      expect(seen.filter((type) => type === "tree").length).toBeLessThan(8);
      for (const file of release.list("resumed", job)) {
        const [, party = "", name = ""] = /^(bank|shop)-(.*)$/.exec(file) ?? [];
        expect(release.read(party, "interrupted", job, name), file).toBe(release.read("resumed", job, file));
      }
    });
  });

  describe("configs", () => {
    const folder = join(release.folder, "configs");
    const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));

    test.each(files)("%s is read, except removed options: the error for each names its replacement", async (file) => {
      const path = join(scratch, file);
      cpSync(join(folder, file), path);
      const document = parseDocument(readFileSync(path, "utf8"));
      for (let left = 100; left > 0; left--) {
        try {
          await readConfig(path);
          return;
        } catch (error) {
          const line = expectOneLine(error);
          const [, option = ""] = /line \d+: .*?'([\w.]+)'.* (?:was removed|is gone|has moved)/.exec(line) ?? [];
          expect(document.hasIn(option.split(".")), line).toBe(true);
          document.deleteIn(option.split("."));
          // The replacement that the error names.
          if (option.startsWith("data.postgres.url")) document.setIn(["data", "postgres", "url_file"], "database.url");
          writeFileSync(path, document.toString());
        }
      }
    });

    test("name every documented field", () => {
      const documented = JSON.parse(readFileSync(join(folder, "documented.json"), "utf8")) as Readonly<
        Record<"both" | "active" | "passive" | "worker", readonly string[]>
      >;
      const named = (role: string): Set<string> =>
        new Set(
          files
            .filter((file) => file.startsWith(role))
            .flatMap((file) => fieldsIn(parseDocument(readFileSync(join(folder, file), "utf8")).toJS())),
        );
      const [active, passive, worker] = ["active", "passive", "worker"].map(named);
      expect(documented.both.filter((field) => !active.has(field) && !passive.has(field))).toEqual([]);
      expect(documented.active.filter((field) => !active.has(field))).toEqual([]);
      expect(documented.passive.filter((field) => !passive.has(field))).toEqual([]);
      expect(documented.worker.filter((field) => !worker.has(field))).toEqual([]);
    });

    function readConfig(path: string): Promise<object> {
      if (path.includes("worker")) return readWorkerConfig(path);
      return path.includes("active") ? readActiveConfig(path, () => "job") : readPassiveConfig(path);
    }
  });
});

/** A model's id covers the parameters of the handshake, which may change with the wire version. */
function withoutId(share: string): string {
  return share.replace(/"sha256":"[0-9a-f]{64}"/, "").replace(/"model":"[0-9a-f]{64}"/, "");
}

/** A TandemError, with a message of one line. */
function expectOneLine(error: unknown): string {
  if (!(error instanceof TandemError)) throw error;
  expect(error.message).not.toContain("\n");
  return error.message;
}

/** Dotted names, of lists the names of their entries' fields. */
function fieldsIn(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((entry) => fieldsIn(entry, path))];
  if (typeof value !== "object" || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([name, inner]) => fieldsIn(inner, path === "" ? name : `${path}.${name}`)),
  ];
}
