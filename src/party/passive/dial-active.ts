/** A passive party that dials an active one, or a relay, so that it need not listen itself. */
import { asSocket } from "../../transport/pipes/as-socket.ts";
import { placeOf } from "../../transport/pipes/channel.ts";
import { dial, type Dialled } from "../../transport/pipes/dial.ts";
import { keepDialling, type WaitingConnection } from "../../transport/pipes/keep-dialling.ts";
import { notPaired, openAtRelay, type RelayAccess } from "../../transport/pipes/relay-pipe.ts";
import { connectionTrouble, StepError, troubleWords } from "../../transport/connection-trouble.ts";
import type { ListeningServer } from "../../transport/tls-listen.ts";
import type { Emit } from "../../record/events.ts";
import type { PartnerConfig } from "../config/config.ts";

/** Connections through one relay that are joined: authenticated ones have a limit of their own, which is lower. */
const pipesMax = 64;

/** Settles when `stop` is aborted; at once for a party that dials this one. */
export async function dialActive(
  { name: peer, channel }: PartnerConfig,
  server: ListeningServer,
  party: string,
  stop: AbortSignal,
  emit: Emit,
): Promise<void> {
  if ("listen" in channel) return;
  const at = placeOf(channel);
  let last: string | null = null;
  await keepDialling({
    stop,
    open: "relay" in channel ? waitingAtRelay(channel.relay, peer, server, stop) : () => waiting(channel, server, stop),
    onState: (error) => {
      const trouble = error === null ? "" : wordsOf(error, peer, at, party);
      if (trouble === last || stop.aborted) return;
      last = trouble;
      emit({ type: "dialled", party, peer, address: at, trouble });
    },
  });
}

async function waiting(channel: Dialled, server: ListeningServer, stop: AbortSignal): Promise<WaitingConnection> {
  const socket = await dial(channel);
  if (stop.aborted) socket.destroy();
  return { used: server.serveSocket(socket) };
}

function waitingAtRelay(
  relay: RelayAccess,
  peer: string,
  server: ListeningServer,
  stop: AbortSignal,
): () => Promise<WaitingConnection> {
  let pipeCount = 0;
  let hasRoom: () => void = () => {};
  return async () => {
    if (pipeCount >= pipesMax) await new Promise<void>((resolve) => (hasRoom = resolve));
    const pipe = await openAtRelay(relay);
    const close = (): void => void pipe.destroy();
    stop.addEventListener("abort", close, { once: true });
    if (stop.aborted) close();
    pipeCount++;
    pipe.once("close", () => {
      stop.removeEventListener("abort", close);
      pipeCount--;
      hasRoom();
    });
    const used = async (): Promise<boolean> => {
      const isPaired = await pipe.paired;
      stop.removeEventListener("abort", close);
      if (isPaired) server.servePipe(await asSocket(pipe), `the relay ${relay.host}`);
      else if (!stop.aborted) throw notPaired(relay, peer, pipe.closeCode);
      return isPaired;
    };
    return { used: used() };
  };
}

function wordsOf(error: unknown, peer: string, at: string, own: string): string {
  if (error instanceof StepError) return troubleWords(error.trouble, peer, own);
  if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED")
    return `nothing listens there: commands of ${peer} do while they run, 'tandem train' for example`;
  const trouble = connectionTrouble(error, peer, at);
  if (trouble !== null) return troubleWords(trouble, peer, own);
  return (
    "it was closed before it was used: " +
    `${peer} must pin this party's fingerprint under 'passives', and this party that of ${peer}`
  );
}
