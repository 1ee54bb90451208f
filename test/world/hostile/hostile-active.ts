/**
 * A hostile active party: an honest one whose messages are mutated before they are sent. Its jobs go to a party that
 * runs as a process of its own, one after the other.
 */
import type { Transport } from "@connectrpc/connect";
import { readIdentity } from "../../../src/party/identity.ts";
import { type ActiveWorld, type ConnectedPeer, realWorld } from "../../../src/party/active/world.ts";
import type { PartyEvent } from "../../../src/record/events.ts";
import { noNotes } from "../../../src/record/job-record.ts";
import { requestOver } from "../../../src/transport/admission-client.ts";
import { psiPeerOver } from "../../../src/transport/psi-client.ts";
import { peerOver } from "../../../src/transport/peer-client.ts";
import { scoringPeerOver } from "../../../src/transport/scoring-client.ts";
import type { TlsIdentity } from "../../../src/transport/tls-settings.ts";
import type { Said } from "./hostile-call.ts";
import { connectHostile, type HostileConnection } from "./hostile-connection.ts";
import { type HostileJob, outcomeOf } from "./hostile-job.ts";
import type { Company, ProcessWorld } from "../processes.ts";
import { bankConfig } from "./hostile-parties.ts";
import type { Scenario } from "./hostile-scenarios.ts";
import { longMs, perform, shortMs } from "./hostile-tasks.ts";
import { HostileTransport, type HostileWays } from "./hostile-transport.ts";
import { outcomeUnlessStalled, watchForStall } from "./stall-watch.ts";

/** A party that is attacked: where it listens, and who attacks it. */
export interface Target {
  readonly world: ProcessWorld;
  readonly bank: Company;
  readonly shop: Company;
  readonly port: number;
}

/** The party may not have noticed yet that the job before is over. */
const busyMs = 20;

export interface HostileRun {
  /** What the honest party has said. */
  readonly said: readonly Said[];
  /** Of a job that ended well. */
  readonly result: unknown;
}

/** @param model the folder of the model that is asked for scores, where the scenario asks for some */
export async function runHostileActive(
  { world, bank, shop, port }: Target,
  scenario: Scenario,
  job: HostileJob,
  hostility: Pick<HostileWays, "elsewhere" | "callsBefore">,
  model = "",
): Promise<HostileRun> {
  const config = await bankConfig(world, port, job.name, scenario);
  const identity = await readIdentity(config.tls);
  const connections = new Connections(identity, shop, port);
  const over = new AbortController();
  const ways = { transport: connections.first.transport, other: () => connections.second.transport, ...hostility };
  const hostile = new HostileTransport(ways, job, over.signal);
  await untilFree(connections.first.transport, job);
  let isWaiting = false;
  const means = {
    world: surroundingsOver(shop.name, hostile, bank.fingerprint),
    scoring: scoringPeerOver(shop.name, hostile.transport),
    emit: (event: PartyEvent) => void (isWaiting = event.type === "queued" && event.place > 0),
    model,
    patienceMs: hostility.callsBefore > 0 ? shortMs : longMs,
  };
  let result: unknown;
  const work = async (): Promise<void> => void (result = await perform(scenario.task ?? "train", config, means));
  const stall = watchForStall(job.pids);
  job.onMoved = stall.moved;
  const outcome = await outcomeUnlessStalled(stall, work, outcomeOf);
  // Its own requests under other names can have all places.
  job.ended("the job", outcome === "hang" && isWaiting ? "PARTY_BUSY" : outcome);
  if (hostility.callsBefore > 0) await hostile.afterwards();
  over.abort();
  connections.close();
  return { said: hostile.said, result };
}

/** The party may not have noticed yet that the job before is over. An empty hello opens nothing. */
async function untilFree(transport: Transport, job: HostileJob): Promise<void> {
  const stall = watchForStall(job.pids);
  while (!stall.signal.aborted) {
    const hello = peerOver("attacked", transport).join({}, {})[Symbol.asyncIterator]();
    const outcome = await outcomeUnlessStalled(watchForStall(job.pids), () => hello.next(), outcomeOf);
    if (outcome !== "PARTY_BUSY") return stall.end();
    await new Promise((resolve) => setTimeout(resolve, busyMs));
  }
  stall.end();
  job.ended("a party that stays busy", "hang");
}

function surroundingsOver(name: string, { transport }: HostileTransport, boundTo: string): ActiveWorld {
  const connect: ActiveWorld["connect"] = async (_config, watchOf) => {
    const watch = watchOf(name);
    const alignment: ConnectedPeer["alignment"] = (job, validationFile) =>
      psiPeerOver(name, transport, job, validationFile, boundTo, { watch });
    const request = requestOver(name, transport, { watch });
    return [{ ...peerOver(name, transport, { watch }), request, alignment, close: () => watch.close() }];
  };
  return { ...realWorld, notes: () => noNotes, connect };
}

/** Up to two of one party. */
class Connections {
  readonly first: HostileConnection;
  readonly #make: () => HostileConnection;
  #second: HostileConnection | null = null;

  constructor(identity: TlsIdentity, to: Company, port: number) {
    this.#make = () => connectHostile(identity, to, port);
    this.first = this.#make();
  }

  get second(): HostileConnection {
    return (this.#second ??= this.#make());
  }

  close(): void {
    this.first.close();
    this.#second?.close();
  }
}
