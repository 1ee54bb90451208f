/**
 * The way to a passive party, step by step: name, TCP, TLS, fingerprint, whether it accepts this party, what it says of
 * itself, and (for `tandem doctor`) how fast bytes pass. The first step that fails ends it: those after it say nothing.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { programVersion } from "../../base/program-version.ts";
import { actors, connectionTrouble, type ConnectionStep } from "../../transport/connection-trouble.ts";
import { placeOf } from "../../transport/pipes/channel.ts";
import { Prober, type ProbeRequest } from "../../transport/probe.ts";
import type { TlsIdentity } from "../../transport/tls-settings.ts";
import { codeHeader } from "../../transport/wire-error.ts";
import type { PassiveProbe } from "../../wire/generated/tandem/v1/diagnosis_pb.ts";
import { peerText } from "../../wire/peer-text.ts";
import { messageBytesMax, protocolVersion } from "../../wire/version.ts";
import type { ActiveConfig } from "../config/config.ts";
import { dayMs, renewalDays } from "../../record/renewal-days.ts";
import { endOf } from "./certificate-end.ts";
import { type Check, failed, ok, skipped, type Trouble, warning } from "./check.ts";
import { connectedInSteps } from "./way-to-partner.ts";

type Passive = ActiveConfig["passives"][number];

export interface PartnerTerms {
  /** This party's name, in its config. */
  readonly own: string;
  readonly identity: TlsIdentity;
  /** What the job that follows needs of the party's table. */
  readonly training?: ProbeRequest["training"];
  readonly timeoutMs: number;
  /** Null: no measurements. */
  readonly measured: { readonly idleSeconds: number } | null;
}

/** More than this, and days of UTC and dates of certificates are not the same at both. */
const clockMsMax = 60_000;
const slowMs = 300;
/** Room for the other fields of a message. */
const largestBytes = messageBytesMax - 4096;

/** One connection's steps. `isLasting`: a failure that waiting does not change. */
export interface PartnerChecks {
  readonly checks: readonly Check[];
  readonly isLasting: boolean;
}

export async function checkPartner(passive: Passive, terms: PartnerTerms): Promise<PartnerChecks> {
  const checks: Check[] = [];
  const at = placeOf(passive.channel);
  try {
    const socket = await connectedInSteps(passive, terms, checks);
    checks.push(...endingSoon(socket.getPeerCertificate().valid_to, passive.name));
    const prober = new Prober(socket);
    try {
      await questioned(prober, passive, terms, checks);
    } finally {
      prober.close();
      socket.destroy();
    }
    return { checks, isLasting: false };
  } catch (error) {
    if (error instanceof Refused) {
      checks.push(failed(error.step, error.trouble));
      return { checks, isLasting: true };
    }
    const { check, isLasting } = failedStep(error, passive.name, at, terms.own);
    checks.push(check);
    return { checks, isLasting };
  }
}

/** A step of the way to a partner that failed. */
export function failedStep(
  error: unknown,
  name: string,
  at: string,
  own: string,
): { readonly check: Check; readonly isLasting: boolean } {
  const trouble = connectionTrouble(error, name, at);
  if (trouble === null)
    return {
      check: failed("connection", {
        code: "PARTY_LOST",
        words: `the connection to ${name} at ${at} was lost`,
        who: name,
        todo: "look at the log of its party, and start it again",
      }),
      isLasting: false,
    };
  const check = failed(trouble.step, {
    code: isOfCertificates(trouble.step) ? "CERTIFICATE" : "PARTY_LOST",
    words: trouble.words,
    who: actors(trouble.by, name, own),
    todo: trouble.todo,
  });
  return { check, isLasting: trouble.isLasting };
}

function isOfCertificates(step: ConnectionStep): boolean {
  return step === "fingerprint" || step === "accepted";
}

/** The party answers, and what it answers does not fit. */
class Refused extends Error {
  readonly step: string;
  readonly trouble: Trouble;

  constructor(step: string, trouble: Trouble) {
    super(trouble.words);
    this.step = step;
    this.trouble = trouble;
  }
}

/** Its certificate is to be renewed: a warning, or nothing. */
function endingSoon(end: string, name: string): Check[] {
  const until = Date.parse(end);
  if (until - Date.now() >= renewalDays.soon * dayMs) return [];
  return [warning("certificate dates", endOf(`the certificate of ${name}`, until, name, Date.now()))];
}

async function questioned(prober: Prober, passive: Passive, terms: PartnerTerms, checks: Check[]): Promise<void> {
  const { name } = passive;
  const { own, training, timeoutMs, measured } = terms;
  const asked = Date.now();
  const started = performance.now();
  let said: PassiveProbe;
  try {
    said = await prober.probe({}, timeoutMs);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Unimplemented) throw error;
    checks.push(ok("accepted", `${name} knows this party's certificate`));
    noProbes(own, name);
  }
  const roundTripMs = performance.now() - started;
  checks.push(
    ok("accepted", `${name} knows this party's certificate, and calls this party '${peerText(said.caller)}'`),
  );
  checks.push(versionOf(said, own, name), nameOf(said, own, name));
  checks.push(clockOf(said.clockMs, asked + roundTripMs / 2, own, name));
  if (training !== undefined) await fits(prober, terms, name, checks);
  if (measured === null) return;
  await measure(prober, terms, name, checks);
  checks.push(await idle(prober, measured.idleSeconds, terms, name));
}

/** All releases from 0.7 on answer probes. @throws Refused */
function noProbes(own: string, name: string): never {
  throw new Refused("version", {
    code: "HANDSHAKE_MISMATCH",
    words: `${name} runs Tandem 0.6 or an earlier release, and ${own} Tandem ${programVersion()}`,
    who: name,
    todo: `install Tandem ${programVersion()} (docs/upgrade.md)`,
  });
}

/** @throws Refused */
function versionOf({ protocolVersion: theirs, release }: PassiveProbe, own: string, name: string): Check {
  const shown = peerText(release);
  if (theirs === protocolVersion)
    return ok("version", `${shown} at ${name}, ${programVersion()} here: they work together`);
  const isOlder = theirs < protocolVersion;
  throw new Refused("version", {
    code: "HANDSHAKE_MISMATCH",
    words:
      `${name} runs Tandem ${shown} (protocol ${theirs}), ` +
      `and ${own} ${programVersion()} (protocol ${protocolVersion})`,
    who: isOlder ? name : own,
    todo: `install Tandem ${isOlder ? programVersion() : shown} (docs/upgrade.md)`,
  });
}

/** Models and budgets belong to names: a party that is called otherwise is found under neither. */
function nameOf({ name: theirs, caller }: PassiveProbe, own: string, name: string): Check {
  const [said, called] = [peerText(theirs), peerText(caller)];
  if (said !== name)
    return warning("names", {
      words: `the party that is called '${name}' in the config of ${own} calls itself '${said}'`,
      who: own,
      todo: `write 'name: ${said}' under passives, or agree on the name`,
    });
  if (called !== own)
    return warning("names", {
      words: `${name} has pinned this party under the name '${called}', and it calls itself '${own}'`,
      who: name,
      todo: `write 'name: ${own}' under active in its config, or agree on the name`,
    });
  return ok("names", `both sides use the names ${own} and ${name}`);
}

function clockOf(theirs: number, own: number, ownName: string, name: string): Check {
  const apartMs = theirs - own;
  if (Math.abs(apartMs) <= clockMsMax) return ok("clocks", `${(Math.abs(apartMs) / 1000).toFixed(1)} s apart`);
  return warning("clocks", {
    words:
      `the clock of ${name} is ${Math.round(Math.abs(apartMs) / 1000)} s ` +
      `${apartMs > 0 ? "ahead of" : "behind"} this machine's`,
    who: `${ownName} and ${name}`,
    todo: "synchronise the clocks of both machines (NTP): certificates and daily budgets depend on them",
  });
}

/** Whether the party's table fits the job. @throws Refused */
async function fits(
  prober: Prober,
  { own, training, timeoutMs }: PartnerTerms,
  name: string,
  checks: Check[],
): Promise<void> {
  try {
    await prober.probe(training === undefined ? {} : { training }, timeoutMs);
    checks.push(ok("columns", `the table of ${name} fits this job's training`));
  } catch (error) {
    if (ConnectError.from(error).metadata.get(codeHeader) !== "CELL_UNPARSABLE") throw error;
    throw new Refused("columns", {
      code: "CELL_UNPARSABLE",
      words: `the table of ${name} has columns of text, and this job trains without enable_categorical`,
      who: `${own} or ${name}`,
      todo:
        `decide: ${own} sets enable_categorical under training, ` +
        `or ${name} leaves the columns out (its log names the first)`,
    });
  }
}

async function measure(prober: Prober, { own, timeoutMs }: PartnerTerms, name: string, checks: Check[]): Promise<void> {
  const trips: number[] = [];
  for (let trip = 0; trip < 5; trip++) {
    const started = performance.now();
    await prober.probe({}, timeoutMs);
    trips.push(performance.now() - started);
  }
  const tripMs = trips.toSorted((a, b) => a - b)[2];
  const trip = `${tripMs.toFixed(1)} ms`;
  checks.push(
    tripMs <= slowMs
      ? ok("round trip", trip)
      : warning("round trip", {
          words: `${trip}: each level of a tree takes some`,
          who: own,
          todo: "expect slow jobs with deep trees",
        }),
  );
  const bodyMs: Record<"to" | "from", number> = { to: 0, from: 0 };
  for (const direction of ["to", "from"] as const) {
    const started = performance.now();
    try {
      await prober.probe(
        direction === "to" ? { sentBytes: largestBytes } : { answerBytes: largestBytes },
        Math.max(timeoutMs, 60_000),
      );
    } catch (error) {
      const known = connectionTrouble(error, name, "")?.step === "accepted";
      if (known) throw error;
      throw new Refused("largest body", {
        code: "PARTY_LOST",
        words: `a message of 4 MB ${direction} ${name} is lost, and small ones pass`,
        who: `${own} and ${name}`,
        todo: "have their network teams allow large bodies at gateways between them",
      });
    }
    bodyMs[direction] = performance.now() - started - tripMs;
  }
  checks.push(ok("largest body", "messages of 4 MB pass in both directions"));
  checks.push(ok("bandwidth", `${rate(bodyMs.to)} to ${name}, ${rate(bodyMs.from)} from it`));
}

async function idle(prober: Prober, seconds: number, { own, timeoutMs }: PartnerTerms, name: string): Promise<Check> {
  if (seconds === 0) return skipped("idle connection", "not measured; --idle <seconds> does");
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  try {
    await prober.probe({}, timeoutMs);
    return ok("idle connection", `still open after ${seconds} s without traffic`);
  } catch {
    return failed("idle connection", {
      code: "PARTY_LOST",
      words: `a connection that was idle for ${seconds} s is dead: a device between the parties drops it`,
      who: `${own} and ${name}`,
      todo: "have their network teams raise the idle time-out to 60 s or more (Tandem sends a ping every 20 s)",
    });
  }
}

function rate(bodyMs: number): string {
  const perSecond = largestBytes / Math.max(bodyMs, 0.1) / 1000;
  return perSecond >= 10 ? `${perSecond.toFixed(0)} MB/s` : `${perSecond.toFixed(2)} MB/s`;
}
