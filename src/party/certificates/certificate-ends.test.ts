import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { readCertificates } from "../../record/certificate-file.ts";
import type { PartyEvent } from "../../record/events.ts";
import { dayMs } from "../../record/renewal-days.ts";
import { CertificateEnds } from "./certificate-ends.ts";

function watched() {
  const clock = { now: Date.UTC(2030, 0, 1) };
  const directory = mkdtempSync(join(scratchDirectory(), "ends-"));
  const events: PartyEvent[] = [];
  const ends = new CertificateEnds(
    "shop",
    directory,
    (event) => events.push(event),
    () => clock.now,
  );
  const note = (partner: number, pin: number, fingerprint: string, days: number): void =>
    ends.note({ partner, pin, party: partner === 0 ? "shop" : "bank", fingerprint, until: clock.now + days * dayMs });
  const words = (): string[] => events.flatMap((event) => (event.type === "notice" ? [event.words] : []));
  return { clock, directory, events, ends, note, words };
}

test("a certificate is warned of 60 and 14 days before its end, and when it has expired, once each", () => {
  const { clock, ends, note, words } = watched();
  note(0, 1, "aa".repeat(32), 61);
  note(1, 2, "bb".repeat(32), 800);
  expect(words()).toEqual([]);
  const seen: number[] = [];
  for (let day = 0; day < 70; day++) {
    clock.now += dayMs;
    ends.look();
    ends.look();
    if (words().length > seen.length) seen.push(61 - day - 1);
  }
  expect(seen).toEqual([59, 13, -1]);
  expect(words()[0]).toBe(
    "this party's own certificate (aaaaaaaaaaaaaaaa...) expires in 59 days, on 2030-03-03. " +
      "shop must make a new one with 'tandem cert renew', and send the new fingerprint to its partners",
  );
  expect(words()[2]).toContain("expired on 2030-03-03");
});

test("a partner's certificate is noted once, and its renewal takes its place", async () => {
  const { directory, events, note, words } = watched();
  note(0, 1, "aa".repeat(32), 300);
  for (let connection = 0; connection < 3; connection++) note(1, 1, "bb".repeat(32), 10);
  expect(events.filter(({ type }) => type === "certificate")).toHaveLength(2);
  expect(words()).toEqual([expect.stringMatching(/^the certificate of bank .* expires in 10 days.* bank must/)]);
  note(1, 1, "cc".repeat(32), 300);
  const shown = async () => (await readCertificates(directory)).map(({ fingerprint }) => fingerprint.slice(0, 2));
  await expect.poll(shown).toEqual(["aa", "cc"]);
});
