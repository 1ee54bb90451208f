/** Runs the commands of docs/relay.md in their order, with the configs that the page has. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse, parseDocument } from "yaml";
import { packagePath } from "../src/base/package-root.ts";
import { readPassiveConfig } from "../src/party/config/config.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { ConnectProxy } from "./world/connect-proxy.ts";
import { makePeople } from "./world/people.ts";
import { ProcessWorld } from "./world/processes.ts";
import { RunningParty } from "./world/running-party.ts";
import { freePort, TandemProcess } from "./world/tandem-process.ts";

const root = scratchDirectory();
const ends: (() => unknown)[] = [];
afterAll(() => Promise.all(ends.map((end) => end())));

const page = readFileSync(packagePath("docs", "relay.md"), "utf8");
const blocks = [...page.matchAll(/```(sh|yaml) ([a-z-]+)( background)?\n([\s\S]*?)```/g)].map(
  ([, language, who, background, text]) => ({ language, who, isBackground: background !== undefined, text }),
);

const configs = { bank: join(root, "bank", "active.yaml"), retailer: join(root, "retailer", "passive.yaml") };

/** Sets top-level fields of a config; what is null is removed. */
function edit(who: keyof typeof configs, fields: Readonly<Record<string, unknown>>): void {
  const document = parseDocument(readFileSync(configs[who], "utf8"));
  for (const [name, value] of Object.entries(fields))
    if (value === null) document.delete(name);
    else document.set(name, value);
  writeFileSync(configs[who], String(document));
}

const fieldsOf = (who: keyof typeof configs) => parse(readFileSync(configs[who], "utf8")) as Record<string, object[]>;

test("the walk-throughs, verbatim: a retailer that dials out, a relay, and a proxy", async () => {
  expect(blocks.map(({ language, who }) => `${language} ${who}`).join(", ")).toBe(
    "yaml bank, yaml retailer, sh retailer, sh bank, " +
      "sh relay, sh relay, yaml bank, yaml retailer, sh retailer, sh bank, yaml bank-passives",
  );
  const people = makePeople(240, "relay page");
  const { bank, shop } = await ProcessWorld.found(root, {
    bank: { people, columns: [0, 1] },
    retailer: { people, columns: [2, 3] },
  });
  const { training } = fieldsOf("bank");
  edit("bank", {
    key_bits: null,
    insecure_key_bits: 256,
    training: { ...training, num_round: 2 },
    data: { path: "data.csv", id: "id", features: "all", label: "outcome", positive: "defaulter" },
  });
  const { policy } = fieldsOf("retailer");
  edit("retailer", { policy: { ...policy, min_key_bits: undefined, insecure_min_key_bits: 256 } });

  const [bankPort, relayPort] = [await freePort(), await freePort()];
  let relayFingerprint = "";
  let party: RunningParty | null = null;
  const spoken: string[] = [];
  const tandem = async (line: string): Promise<string> => {
    const args = line.split(" ").slice(1);
    const isFile = (i: number): boolean => args[i - 1] === "-c" || args[i - 1] === "--out";
    const { exitCode, stdout, stderr } = await tandemHere(...args.map((arg, i) => (isFile(i) ? join(root, arg) : arg)));
    expect(exitCode, `${line}\n${stdout}${stderr}`).toBe(0);
    spoken.push(stdout);
    return stdout;
  };
  const local = (text: string): string =>
    text
      .replaceAll("7443", String(bankPort))
      .replaceAll("bank.example", "127.0.0.1")
      .replaceAll("wss://relay.example", `wss://127.0.0.1:${relayPort}`)
      .replaceAll("port 443", `port ${relayPort}`);
  /** The partner's fingerprint, then the relay's. */
  const pinned = (text: string, partner: string): string =>
    text.replace('fingerprint: "..."', `fingerprint: "${partner}"`).replace('"..."', `"${relayFingerprint}"`);

  for (const { language, who, isBackground, text } of blocks) {
    const words = local(text);
    if (language === "yaml" && who === "bank") {
      await party?.stop();
      edit("bank", {
        listen: null,
        job: `job-${spoken.length}`,
        ...(parse(pinned(words, shop.fingerprint)) as object),
      });
    } else if (language === "yaml" && who === "retailer") {
      edit("retailer", { listen: null, ...(parse(pinned(words, bank.fingerprint)) as object) });
    } else if (language === "yaml") {
      const proxy = await ConnectProxy.start({ credentials: "user:password" });
      ends.push(() => proxy.close());
      writeFileSync(join(bank.folder, "proxy.credentials"), "user:password\n", { mode: 0o600 });
      const [entry] = fieldsOf("bank")["passives"];
      const near = words.replace("proxy.example:3128", `127.0.0.1:${proxy.port}`);
      edit("bank", { passives: [{ ...entry, ...(parse(near) as object) }] });
      expect(await tandem("tandem doctor --idle 0 -c bank/active.yaml")).toMatch(/^ok +retailer: proxy: /m);
      expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.1:${relayPort}`]));
    } else if (who === "relay" && isBackground) {
      const relay = new TandemProcess(words.trim().replace("relay/", join(root, "relay/")).split(" ").slice(1));
      ends.push(() => relay.stop("SIGKILL"));
      await relay.errorMatches(/"event":"listening"/);
    } else if (isBackground) {
      party = await RunningParty.start(await readPassiveConfig(configs.retailer));
      ends.push(() => party?.stop());
    } else for (const line of words.trim().split("\n")) await tandem(line);
    if (language === "sh" && who === "relay" && !isBackground) {
      relayFingerprint = /fingerprint: +([0-9a-f]{64})/.exec(spoken.at(-1) ?? "")?.[1] ?? "";
      for (const [end, { folder }] of Object.entries({ active: bank, passive: shop }))
        copyFileSync(join(root, "relay", `bank-retailer.${end}.token`), join(folder, "relay.token"));
    }
  }
  const doctors = spoken.filter((text) => /^ok +retailer: accepted/m.test(text));
  expect(doctors).toHaveLength(3);
  expect(doctors[0]).toMatch(/^ok +retailer: TCP: retailer has connected to /m);
  expect(doctors[1]).toMatch(/^ok +retailer: other end: /m);
});
