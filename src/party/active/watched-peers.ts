/** Connections to all passive parties; calls have timeouts, and a long wait is reported. */
import type { Emit } from "../../record/events.ts";
import { CallWatch } from "../../transport/call-watch.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { ActiveWorld, ConnectedPeer } from "./world.ts";

/** A party may be silent for this long, however little patience there is: it may be reading its table. */
const stallMsMin = 120_000;

/** @param onGivenUp called with the waiting time of a failed call */
export async function connectWatched(
  world: ActiveWorld,
  config: ActiveConfig,
  emit: Emit,
  onGivenUp: (waitedMs: number) => void = () => {},
): Promise<readonly ConnectedPeer[]> {
  const { name, job, patience_seconds: patience, call_seconds: call } = config;
  return world.connect(
    config,
    (party) =>
      new CallWatch({
        party,
        stallMs: Math.max(patience * 1000, stallMsMin),
        callMs: call * 1000,
        now: world.now,
        alarm: world.alarm,
        onSlow: (waitedMs, isWorking) =>
          emit({
            type: "unanswered",
            party: name,
            job: job.name,
            peer: party,
            waitedMs: Math.round(waitedMs),
            isWorking,
          }),
        onGivenUp,
      }),
  );
}
