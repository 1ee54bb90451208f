/** A party's crew, from its config: the engine, the blocks' folder, and events about the workers. */
import { join } from "node:path";
import { ownMemoryBytes } from "../../base/own-memory.ts";
import { diskStorage } from "../../base/files/storage.ts";
import { programVersion } from "../../base/program-version.ts";
import { BlockFiles } from "../../crew/block-files.ts";
import { type LineIdentity, listenForLines, type ListeningLines } from "../../crew/line/tls-line.ts";
import type { CrewEvent } from "../../crew/remote-blocks.ts";
import { RemoteCrew } from "../../crew/remote-crew.ts";
import type { Emit } from "../../record/events.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { Crew } from "../../scheme/blocks/crew.ts";
import type { TaskCrew } from "../../scheme/tasks/tasks.ts";
import { openPartyEngine } from "./crew-access.ts";
import type { CrewAccess, CrewConfig } from "../config/crew-config.ts";

export interface PartyCrew {
  readonly crew: Crew & TaskCrew;
  /** Ends what its workers do for it. */
  close(): Promise<void>;
}

/** At the start a user is watching, and an address may be wrong. */
const firstPatienceMs = 30_000;
/** Time for a server restart, or a cluster election. */
const enginePatienceMs = 60_000;
const workersPatienceMs = 600_000;
/** Other parties wait for an active party meanwhile; between attempts its own patience applies. */
export const taskPatienceMs = 120_000;

/** @throws TandemError CERTIFICATE, ENGINE_LOST, FILE_UNREADABLE, KEY_FORMAT, USAGE; the signal's reason */
export async function openPartyCrew(
  config: CrewConfig,
  party: string,
  emit: Emit,
  signal: AbortSignal,
  patienceMs = workersPatienceMs,
): Promise<PartyCrew> {
  const { engine, sealOf, identity } = await openPartyEngine(config, {
    patienceMs: enginePatienceMs,
    firstPatienceMs,
    signal,
    onWait: (why) => emit({ type: "engine-awaited", party, why }),
  });
  const listening = await listen(config, identity).catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  const crew = new RemoteCrew({
    engine,
    lines: listening?.lines,
    sealOf,
    files: openBlockFiles(config),
    version: programVersion(),
    leaseMs: config.lease_seconds * 1000,
    blockRows: config.block_rows === "auto" ? undefined : config.block_rows,
    workersMin: config.workers_min,
    patienceMs,
    on: (event) => tell(party, event, emit),
  });
  const close = async (): Promise<void> => {
    await crew.close().catch(() => {}); // where the engine is away, the next attempt deletes what is left
    await listening?.close();
    await engine.close();
  };
  return { crew, close };
}

/** Gradients that wait for workers take up to a quarter of the memory; the engine carries what exceeds it. */
async function listen({ listen: address }: CrewConfig, identity: LineIdentity): Promise<ListeningLines | null> {
  return address === undefined ? null : listenForLines(address, identity, ownMemoryBytes() / 4);
}

/** In a folder of the crew's own within the one that is named: two crews may share that one. */
export function openBlockFiles({ name, folder }: Pick<CrewAccess, "name" | "folder">): BlockFiles {
  return new BlockFiles(diskStorage, join(folder, `tandem-${name}`));
}

function tell(party: string, event: CrewEvent, emit: Emit): void {
  switch (event.kind) {
    case "waiting-for-workers":
      return emit({ type: "workers-awaited", party, workers: event.workers, wanted: event.wanted });
    case "tasks-opened":
      return emit({ type: "tasks-opened", party, workers: event.workers });
    case "opened":
      return emit({ type: "crew-opened", party, blocks: event.blocks, rowsPerBlock: event.rowsPerBlock });
    case "block-held":
      if (event.deliveries > 1) emit({ type: "block-moved", party, ...moved(event) });
      return;
    case "worker-joined":
      return emit({ type: "worker-joined", party, worker: event.worker, threads: event.threads });
    case "worker-lost":
      return emit({ type: "worker-lost", party, worker: event.worker, blocks: event.blocks });
    case "progress":
      return emit({ type: "crew-progress", party, crew: event.crew });
    case "engine-awaited":
      return emit({ type: "engine-awaited", party, why: event.why });
    case "worker-hindered":
      return emit({ type: "notice", party, words: `worker ${event.worker}: ${peerText(event.why)}` });
    case "epoch-lost":
      return emit({ type: "epoch-lost", party, code: event.code });
  }
}

function moved({ block, worker, deliveries }: Extract<CrewEvent, { kind: "block-held" }>) {
  return { block, worker, moves: deliveries - 1 };
}
