/**
 * The dashboard in a real browser: a live demo, past jobs, and the page's guarantees: nothing without the token,
 * nothing from other origins, nothing of another party, usable by keyboard and screen reader. Deployed companies are in
 * dashboard-live.test.ts.
 *
 * TANDEM_SCREENSHOTS=1 runs a larger demo and writes docs/screenshots.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepContributions } from "../src/scoring/mean-contributions.ts";
import { expectAccessible, findBrowser, launchBrowser, openDashboard } from "./support/browser.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { startTandem, type TandemProcess } from "./world/tandem-process.ts";
import {
  figure,
  minutes,
  openView,
  picture,
  pictures,
  printedAddress,
  screenshots,
  stateShown,
} from "./support/dashboard-page.ts";

const browserPath = findBrowser();
if (browserPath === null)
  console.warn(
    "no browser found (chromium, google-chrome, or TANDEM_BROWSER): the tests of the dashboard's page do not run",
  );

/** What `tandem predict --contributions` leaves in the record. */
const explained = {
  people: 90,
  outputs: 1,
  isByParty: false,
  means: [
    { feature: "income", party: "bank", mean: 0.125 },
    { feature: null, party: "telecom", mean: 0.5 },
  ],
};

// Pictures need trees of several seconds: a page is drawn every three.
const demoSize = pictures ? { rows: "50000", trees: "12", fewer: "6" } : { rows: "200", trees: "4", fewer: "1" };
const views = ["overview", "quality", "encoding", "trees", "disclosure", "exposure", "jobs"];

describe.skipIf(browserPath === null)("the dashboard in a browser", () => {
  const records = scratchDirectory();
  let browser: Browser;
  let stored: TandemProcess;
  let storedUrl = "";
  beforeAll(async () => {
    browser = await launchBrowser(browserPath ?? "");
  });
  afterAll(async () => {
    stored?.child.kill("SIGTERM");
    await browser?.close();
  });

  const demo = (trees: string): string[] => [
    "demo",
    "--rows",
    demoSize.rows,
    "--num-round",
    trees,
    "--records",
    records,
  ];

  test("a demo, live to its end; reloaded in the middle, it loses nothing", async () => {
    const job = startTandem([...demo(demoSize.trees), "--dashboard"]);
    const [, url] = await job.errorMatches(/dashboard: (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43})\n/);
    const watched = await openDashboard(browser, url);
    const { page } = watched;
    expect(page.url()).not.toContain("token");
    await stateShown(page, "training");
    await page.locator(".parties .party-name", { hasText: "telecom" }).waitFor();
    await page.locator(".timeline .bar").first().waitFor();
    const rows = page.locator("table", { hasText: "Metrics after each tree" }).locator("tbody tr");
    const learning = page.getByRole("region", { name: "Learning" }).locator("summary");
    await page.locator(".chart").waitFor({ timeout: 2 * minutes });
    await learning.click();
    await expect.poll(() => rows.count(), { timeout: 2 * minutes }).toBeGreaterThan(pictures ? 5 : 0);
    if (pictures) await learning.click();
    // In the middle of a tree, with bytes on their way, there is most to see.
    const midTree = (): Promise<boolean> =>
      page.evaluate(`(() => {
        const count = (selector) => document.querySelectorAll(selector).length;
        const text = document.body.textContent;
        const [, shown] = /time goes: tree (\\d+)/.exec(text) ?? [];
        const [, finished] = /Longest in tree (\\d+)/.exec(text) ?? [];
        if (finished === undefined || finished === shown) return false;
        return count(".party.busy") > 1 && count(".arrow.flowing") > 0 && count(".lane .bar:not([d=''])") > 4;
      })()`);
    if (pictures) await expect.poll(midTree, { timeout: 3 * minutes, interval: 20 }).toBe(true);
    await picture(page, "overview-live");
    if (pictures) await learning.click();
    const before = await rows.allTextContents();
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(Number(demoSize.trees));

    await page.reload();
    await learning.click();
    await rows.first().waitFor({ state: "attached" });
    expect((await rows.allTextContents()).slice(0, before.length)).toEqual(before);
    expect(await page.locator(".parties .party-name").allTextContents()).toEqual(["bank (you)", "retailer", "telecom"]);

    await stateShown(page, "finished");
    expect(await rows.count()).toBe(Number(demoSize.trees));
    expect(await figure(page, "trees")).toBe(`${demoSize.trees} / ${demoSize.trees}`);
    // The page and the command report the same figures.
    const { exitCode, stdout } = await job.finished;
    expect(exitCode).toBe(0);
    const [, auc, ks] = /federated \(no rows shared\) +(0\.\d+) +(0\.\d+)/.exec(stdout) ?? [];
    await openView(page, "quality");
    expect(await figure(page, "test auc")).toBe(auc);
    expect(await figure(page, "test ks")).toBe(ks);
    watched.expectClean();
    await watched.context.close();
  });

  test("past jobs: two side by side", async () => {
    expect((await tandemHere(...demo(demoSize.fewer), "--quiet")).exitCode).toBe(0);
    stored = startTandem(["dashboard", records]);
    storedUrl = await printedAddress(stored);
    const watched = await openDashboard(browser, storedUrl);
    const { page } = watched;
    await openView(page, "jobs");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(2);
    await picture(page, "jobs");
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("link", { name: "Compare the two" }).click();
    const outcome = page.getByRole("region", { name: "Outcome of both jobs" });
    await outcome.waitFor();
    const trees = outcome.locator("tr", { hasText: /^trees/ }).locator("td");
    expect((await trees.allTextContents()).toSorted()).toEqual([demoSize.trees, demoSize.fewer].toSorted());
    // The digest says that both saw the same data; num_round is the one parameter that differs, and comes first.
    const digests = await outcome.locator("tr", { hasText: "digest of the data" }).locator("td").allTextContents();
    expect(digests[0]).toMatch(/^[0-9a-f]{12}$/);
    expect(digests[0]).toBe(digests[1]);
    expect(await page.locator("mark").count()).toBe(2);
    await expectAccessible(page, "compare");
    await picture(page, "compare");
    watched.expectClean();
    await watched.context.close();
  });

  test("the trees: own splits open, others' closed; a tree can be opened by keyboard", async () => {
    for (const job of readdirSync(join(records, "bank"))) keepContributions(join(records, "bank", job), explained);
    const watched = await openDashboard(browser, storedUrl);
    const { page } = watched;
    await openView(page, "trees");
    await page.locator("svg.tree").waitFor();
    const moved = page.getByRole("region", { name: "What moves scores" }).locator("tbody tr");
    expect(await moved.allTextContents()).toEqual(["all features of telecom0.5", "income0.125"]);
    await page.getByRole("button", { name: "Previous tree" }).focus();
    await page.keyboard.press("Enter");
    await page
      .getByRole("heading", { name: "Tree 1", exact: true })
      .or(page.getByRole("heading", { name: /^Tree \d+$/ }))
      .first()
      .waitFor();
    await page.locator("summary", { hasText: "As text" }).click();
    const text = await page.locator(".tree-text .outline").innerText();
    expect(text).toMatch(/a split of (retailer|telecom)/);
    expect(text).toMatch(/yes: |no: /);
    const own = page.locator("svg.tree .node:not(.closed)");
    if ((await own.count()) > 0) expect(await own.first().textContent()).toMatch(/< .*people/);
    expect(await page.locator("svg.tree .node.closed").count()).toBeGreaterThan(0);
    await page.locator("summary", { hasText: "As text" }).click();
    await picture(page, "trees");
    watched.expectClean();
    await watched.context.close();
  });

  test("every view, wide and narrow, light and dark: accessible, and not wider than the screen", async () => {
    const watched = await openDashboard(browser, storedUrl);
    const { page } = watched;
    for (const { width, scheme } of [
      { width: 1280, scheme: "light" },
      { width: 1280, scheme: "dark" },
      { width: 390, scheme: "light" },
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe(scheme);
      for (const view of views) {
        await openView(page, view);
        if (view !== "jobs") await page.locator("main .card :is(svg, table)").first().waitFor({ state: "attached" });
        await expectAccessible(page, `${view} at ${width}, ${scheme}`);
        expect(
          await page.evaluate<number>("document.documentElement.scrollWidth"),
          `${view} at ${width}`,
        ).toBeLessThanOrEqual(width);
        const plain = width === 1280 && scheme === "light";
        if (
          (plain && !["overview", "jobs", "trees", "exposure"].includes(view)) ||
          (!plain && view === "overview") ||
          (width === 390 && view === "trees") ||
          (scheme === "dark" && view === "quality")
        )
          await picture(page, `${view}${scheme === "dark" ? "-dark" : ""}${width === 390 ? "-390" : ""}`);
      }
    }
    watched.expectClean();
    await watched.context.close();
  });

  test("the theme is the system's until the user chooses one, which survives a reload", async () => {
    const watched = await openDashboard(browser, storedUrl, { dark: true });
    const { page } = watched;
    const shown = async (): Promise<unknown> => [
      await page.evaluate("document.documentElement.dataset.theme"),
      await page.evaluate("getComputedStyle(document.body).backgroundColor"),
    ];
    const [light, dark] = [
      ["light", "rgb(246, 246, 243)"],
      ["dark", "rgb(18, 20, 24)"],
    ];
    const button = page.getByRole("button", { name: /^Theme: / });
    await expect.poll(shown).toEqual(dark);
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(shown).toEqual(light);
    await button.click(); // light
    await page.emulateMedia({ colorScheme: "dark" });
    await nextFrame(page); // the page has handled the change by then
    await expect.poll(shown).toEqual(light);
    await page.reload();
    await button.waitFor();
    await expect.poll(shown).toEqual(light);
    await button.click(); // dark
    await page.emulateMedia({ colorScheme: "light" });
    await nextFrame(page);
    await expect.poll(shown).toEqual(dark);
    await button.click(); // as the system has it
    await expect.poll(shown).toEqual(light);
    watched.expectClean();
    await watched.context.close();
  });

  test("a passive party's page: its splits, no metric, no score, no party but itself and the active one", async () => {
    const own = startTandem(["dashboard", join(records, "retailer")]);
    try {
      const watched = await openDashboard(browser, await printedAddress(own));
      const { page } = watched;
      await page.locator(".parties").waitFor();
      expect(await page.locator(".parties .party-name").allTextContents()).toEqual(["bank", "retailer (you)"]);
      await expectAccessible(page, "a passive party's page");
      await picture(page, "passive");
      let seen = "";
      for (const view of views) {
        await openView(page, view);
        seen += await page.locator("body").innerText();
      }
      const stream = await page.evaluate(async () => {
        const [{ job }] = (await (await fetch("/api/jobs?viewer=retailer")).json()) as { job: string }[];
        return (await fetch(`/api/job?viewer=retailer&job=${job}`)).text();
      });
      expect(seen).toMatch(/node \d+/);
      expect(seen).toContain("encrypted gradients only");
      for (const text of [seen, stream]) {
        expect(text).not.toContain("telecom");
        expect(text).not.toMatch(/"(auc|ks|logloss|weight|gain)"/);
        // Round numbers may be thresholds of several parties; names are not.
        const own = new Set(secretsOf(records, ["retailer"]));
        const others = secretsOf(records, ["bank", "telecom"]).filter((secret) => !own.has(secret));
        expect(others.length).toBeGreaterThan(5);
        expect(others.filter((secret) => text.includes(secret))).toEqual([]);
      }
      watched.expectClean();
      await watched.context.close();
    } finally {
      own.child.kill("SIGTERM");
    }
  });

  test("without the token: nothing", async () => {
    const context = await browser.newContext();
    for (const path of [
      "/",
      "/index.html",
      "/icon.svg",
      "/api/viewers",
      "/api/jobs?viewer=bank",
      `/?token=${"A".repeat(43)}`,
    ]) {
      const response = await context.request.get(new URL(path, storedUrl).href);
      expect(response.status(), path).toBe(401);
      expect(await response.text(), path).toBe("");
    }
    const page = await context.newPage();
    await page.goto(new URL("/", storedUrl).href).catch(() => null);
    expect(await page.locator("#app").count()).toBe(0);
    await context.close();
  });

  test("the report, in a browser with scripts off and no network", async () => {
    const [job] = readdirSync(join(records, "bank")).toSorted();
    const context = await browser.newContext({
      javaScriptEnabled: false,
      offline: true,
      viewport: { width: 1080, height: 900 },
    });
    const page = await context.newPage();
    const asked: string[] = [];
    context.on("request", (request) => asked.push(request.url()));
    const read = async (party: string): Promise<{ headings: string[]; text: string }> => {
      const out = join(records, `report-${party}.html`);
      expect((await tandemHere("report", join(records, party, job), "--out", out)).exitCode).toBe(0);
      await page.goto(`file://${out}`);
      expect(asked.splice(0)).toEqual([`file://${out}`]);
      await page.locator("svg.parties").waitFor();
      return { headings: await page.locator("h2").allTextContents(), text: readFileSync(out, "utf8") };
    };
    const passive = await read("retailer");
    expect(passive.headings).toEqual([
      "Summary",
      "Parties",
      "The model, as retailer may see it",
      "What was revealed to whom",
      "What others could infer from it (exposure)",
      "Parameters, versions and data",
      "Time",
    ]);
    expect(passive.text).toContain("fraction of own splits");
    expect(passive.text).not.toMatch(/telecom|auc|logloss|fraction of gain/);
    const own = new Set(secretsOf(records, ["retailer"]));
    expect(
      secretsOf(records, ["bank", "telecom"]).filter((secret) => !own.has(secret) && passive.text.includes(secret)),
    ).toEqual([]);
    if (pictures)
      await page.screenshot({
        path: join(screenshots, "report-passive.png"),
        clip: { x: 0, y: 0, width: 1080, height: 1300 },
        fullPage: true,
      });
    const active = await read("bank");
    expect(active.headings).toEqual([
      "Summary",
      "Parties",
      "Quality",
      "The model, as bank may see it",
      "What was revealed to whom",
      "What others could infer from it (exposure)",
      "Parameters, versions and data",
      "Time",
      "Encoding, and the proof that no sum overflows",
    ]);
    expect(await page.locator("svg").count()).toBeGreaterThan(7);
    if (pictures)
      await page.screenshot({
        path: join(screenshots, "report.png"),
        clip: { x: 0, y: 0, width: 1080, height: 1700 },
        fullPage: true,
      });
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 672, height: 950 }); // what margins leave of A4
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(672);
    await context.close();
  });
});

const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");

/** Files that are not of a job, such as partners' budgets, begin with a dot. */
const jobsOf = (folder: string): string[] => readdirSync(folder).filter((name) => !name.startsWith("."));

/** Thresholds and feature names of parties' own splits, as text; short thresholds could stand anywhere. */
function secretsOf(records: string, parties: readonly string[]): string[] {
  return parties.flatMap((party) =>
    jobsOf(join(records, party)).flatMap((job) =>
      [
        ...readFileSync(join(records, party, job, "share.json"), "utf8").matchAll(
          /"threshold":(-?[\d.]{7,})|"featureName":"(\w+)"/g,
        ),
      ].map(([, threshold, name]) => threshold ?? name),
    ),
  );
}
