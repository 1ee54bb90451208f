/** A party's workers, for as long as the party runs. Modules for crews are loaded only where the config has one. */
import type { ActiveConfig, PassiveConfig } from "../party/config/config.ts";
import type { ActiveWorld } from "../party/active/world.ts";
import type { PassiveRunOptions } from "../party/passive/run.ts";
import type { Emit } from "../record/events.ts";

/** What a passive party is run with. */
export type BesideCrew = Pick<PassiveRunOptions, "crew" | "onRecords">;

interface CrewChoice {
  /** Do all work in this process, whatever the config says of a crew. */
  readonly embedded?: boolean | undefined;
}

export async function besideCrew(
  { name, crew }: Pick<PassiveConfig, "name" | "crew">,
  { embedded }: CrewChoice,
  emit: Emit,
  stop: AbortSignal,
  run: (beside: BesideCrew) => Promise<void>,
): Promise<void> {
  if (crew === undefined || embedded === true) return run({});
  let tell = emit;
  const { openPartyCrew } = await import("../party/crew/party-crew.ts");
  const opened = await openPartyCrew(crew, name, (event) => tell(event), stop).catch((error: unknown) => {
    if (stop.aborted) return null;
    throw error;
  });
  if (opened === null) return;
  const onRecords = (records: Emit): void => void (tell = records);
  await run({ crew: opened.crew, onRecords }).finally(() => opened.close());
}

/** The same for an active party: whatever else it takes from the outside is the machine's. */
export async function besideTaskCrew<T>(
  { name, crew }: Pick<ActiveConfig, "name" | "crew">,
  { embedded }: CrewChoice,
  emit: Emit,
  run: (world: ActiveWorld) => Promise<T>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  const { realWorld } = await import("../party/active/world.ts");
  if (crew === undefined || embedded === true) return run(realWorld);
  const { openPartyCrew, taskPatienceMs } = await import("../party/crew/party-crew.ts");
  let tell = emit;
  const opened = await openPartyCrew(crew, name, (event) => tell(event), signal, taskPatienceMs);
  const onRecords = (records: Emit): void => void (tell = records);
  return run({ ...realWorld, crew: opened.crew, onRecords }).finally(() => opened.close());
}
