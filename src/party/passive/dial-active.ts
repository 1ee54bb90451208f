/** A passive party that dials an active one, so that it need not listen itself. */
import { dial } from "../../transport/pipes/dial.ts";
import { placeOf } from "../../transport/pipes/channel.ts";
import { keepDialling } from "../../transport/pipes/keep-dialling.ts";
import { connectionTrouble, troubleWords } from "../../transport/connection-trouble.ts";
import type { ListeningServer } from "../../transport/tls-listen.ts";
import type { Emit } from "../../record/events.ts";
import type { PartnerConfig } from "../config/config.ts";

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
    open: async () => {
      const socket = await dial(channel);
      if (stop.aborted) socket.destroy();
      return { used: server.serveSocket(socket) };
    },
    onState: (error) => {
      const trouble = error === null ? "" : wordsOf(error, peer, at, party);
      if (trouble === last || stop.aborted) return;
      last = trouble;
      emit({ type: "dialled", party, peer, address: at, trouble });
    },
  });
}

function wordsOf(error: unknown, peer: string, at: string, own: string): string {
  if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED")
    return `nothing listens there: commands of ${peer} do while they run, 'tandem train' for example`;
  const trouble = connectionTrouble(error, peer, at);
  if (trouble !== null) return troubleWords(trouble, peer, own);
  return (
    "it was closed before it was used: " +
    `${peer} must pin this party's fingerprint under 'passives', and this party that of ${peer}`
  );
}
