/** A passive party that dials: the way to its active party, as far as it leads while no command of that party runs. */
import { placeOf } from "../../transport/pipes/channel.ts";
import { dial } from "../../transport/pipes/dial.ts";
import { type OnRelayStep, openAtRelay } from "../../transport/pipes/relay-pipe.ts";
import type { PartnerConfig } from "../config/config.ts";
import { type Check, ok, skipped } from "./check.ts";
import { failedStep } from "./partner.ts";
import { toTarget } from "./way-to-partner.ts";

/** @returns nothing for a party that dials this one */
export async function checkWayToActive(
  { name, channel }: PartnerConfig,
  own: string,
  timeoutMs: number,
): Promise<readonly Check[]> {
  if ("listen" in channel) return [];
  const checks: Check[] = [];
  try {
    await toTarget("relay" in channel ? channel.relay : channel, timeoutMs, checks);
    if ("relay" in channel) {
      const onStep: OnRelayStep = (step, words) => checks.push(ok(step, words));
      (await openAtRelay(channel.relay, { timeoutMs, onStep })).destroy();
    } else {
      (await dial(channel, timeoutMs)).destroy();
      checks.push(ok("TCP", `${placeOf(channel)} accepts connections`));
    }
    checks.push(skipped("TLS", `${name} begins it when a command of it runs: tandem doctor there checks the rest`));
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
    checks.push(
      isRefused
        ? skipped("TCP", `nothing listens at ${placeOf(channel)} now: commands of ${name} do while they run`)
        : failedStep(error, name, placeOf(channel), own).check,
    );
  }
  return checks;
}
