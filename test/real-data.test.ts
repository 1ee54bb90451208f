/** The public credit data end to end, where it is at hand: many rows, real distributions, still equal bit for bit. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { AuditResult } from "../src/privacy/attack/audit-result.ts";
import { isCampaign } from "./support/campaign.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../shared/data", import.meta.url));
const file = join(folder, "default", "UCI_Credit_Card.csv.gz");
const absent = !existsSync(file);
if (absent)
  console.warn("real-data: the Default of Credit Card Clients table is not here (TANDEM_DATA); its test is skipped");

describe.skipIf(absent)("Default of Credit Card Clients", () => {
  const rows = isCampaign ? 22_500 : 3000;
  test(`${rows} training rows, three parties: identical to centralised`, async () => {
    const { exitCode, stdout, stderr } = await (isCampaign ? tandem : tandemHere)(
      "simulate",
      "--test-fraction",
      String(1 - rows / 30_000),
      "--data",
      file,
      "--id",
      "ID",
      "--label",
      "default.payment.next.month",
      "--active",
      "LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE",
      "--passive",
      "PAY_0,PAY_2,PAY_3,PAY_4,PAY_5,PAY_6,BILL_AMT1,BILL_AMT2,BILL_AMT3",
      "--passive",
      "BILL_AMT4,BILL_AMT5,BILL_AMT6,PAY_AMT1,PAY_AMT2,PAY_AMT3,PAY_AMT4,PAY_AMT5,PAY_AMT6",
      "--num-round",
      "2",
      "--insecure-key-bits",
      "256",
      "--check",
      "--quiet",
      "--json",
    );
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    const result = JSON.parse(stdout) as {
      identicalToCentralised: boolean;
      metrics: { test: { auc: number } };
      counts: { encryptions: number };
    };
    expect(result.identicalToCentralised).toBe(true);
    expect(result.metrics.test.auc).toBeGreaterThan(0.7);
    expect(result.counts.encryptions).toBe(2 * rows);
  });

  test.runIf(isCampaign)(
    "an audit of a deep job proves nearly all of a passive party's 12,000 rows, and nothing wrong",
    async () => {
      const columns = "LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,PAY_3,PAY_4,PAY_5";
      const amounts = [1, 2, 3, 4, 5, 6].flatMap((month) => [`BILL_AMT${month}`, `PAY_AMT${month}`]).join();
      const { stdout } = await tandem(
        ...`audit --data ${file} --id ID --label default.payment.next.month --active PAY_6,${amounts}`.split(" "),
        ...`--passive ${columns} --num-round 50 --max-depth 5 --max-bin 32 --test-fraction 0.6`.split(" "),
        ..."--seconds 600 --json --quiet".split(" "),
      );
      const [party] = (JSON.parse(stdout) as AuditResult).parties;
      expect(party.wrong).toBe(0);
      expect(party.candidateBits).toBeGreaterThan(0.98);
      expect(party.sumsPerPerson).toBeCloseTo(0.19, 2);
    },
  );
});
