/** Debian's chromium, or another of its kind, driven by playwright-core; and what every page of ours must never do. */
import { accessSync, constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** @returns null where there is none; TANDEM_BROWSER names one that stands elsewhere */
export function findBrowser(): string | null {
  const given = process.env["TANDEM_BROWSER"];
  if (given !== undefined && given !== "") return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function launchBrowser(path: string): Promise<Browser> {
  // Root, as in a container, cannot have chromium's sandbox; the only page that is opened is ours.
  return chromium.launch({ executablePath: path, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails if anything was asked of another origin, or if the page complained. */
  expectClean(): void;
}

/** Opens a dashboard's address as it was printed, token and all. */
export async function openDashboard(
  browser: Browser,
  url: string,
  options: { readonly width?: number; readonly height?: number; readonly dark?: boolean } = {},
): Promise<WatchedPage> {
  const { width = 1280, height = 900, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const { origin } = new URL(url);
  const foreignRequests: string[] = [];
  const complaints: string[] = [];
  context.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== "data:" && asked.origin !== origin) foreignRequests.push(request.url());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A server that ends with its job takes the connection with it; that is no fault of the page.
    if (
      message.type() === "error" &&
      !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/.test(
        message.text(),
      )
    )
      complaints.push(message.text());
  });
  await page.goto(url);
  await page.waitForURL((at) => at.search === "");
  const expectClean = (): void => {
    expect(foreignRequests).toEqual([]);
    expect(complaints).toEqual([]);
  };
  return { page, context, expectClean };
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Rules of WCAG 2 A and AA, as axe-core knows them. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  // Evaluated, not added as a script: the page's policy would refuse that, as it should.
  const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(readFileSync(source, "utf8"));
  const { violations } = await page.evaluate<AxeResult>('axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] })');
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
    where,
  ).toEqual([]);
}
