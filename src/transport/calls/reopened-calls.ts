/**
 * Single calls over a shared stream (calls-transport.ts) that is opened again by the next call after it was lost, each
 * with a deadline. The other side does not learn the deadline: a call that is too late is cancelled.
 */
import type { ClientHttp2Stream } from "node:http2";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { callsTransport } from "./calls-transport.ts";

/** @param open opens a stream to the other side's ServedCalls, on a connection that has none */
export function reopenedCalls(open: () => Promise<ClientHttp2Stream>): Transport {
  let current: Transport | null = null;
  const opened = (): Transport => {
    const transport = callsTransport(async () => {
      try {
        const stream = await open();
        for (const event of ["end", "close"]) stream.once(event, lost);
        return stream;
      } catch (error) {
        lost();
        throw error;
      }
    });
    const lost = (): void => {
      if (current === transport) current = null;
    };
    return (current = transport);
  };
  return {
    async unary(method, signal, timeoutMs, header, input, values) {
      const ending = new AbortController();
      const cancel = (): void => ending.abort();
      signal?.addEventListener("abort", cancel, { once: true });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        if (timeoutMs === undefined) return;
        timer = setTimeout(() => {
          reject(new ConnectError("the call was not answered in time", Code.DeadlineExceeded));
          cancel();
        }, timeoutMs);
      });
      try {
        const answer = (current ?? opened()).unary(method, ending.signal, undefined, header, input, values);
        return await Promise.race([answer, late]);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
      }
    },
    stream: () => Promise.reject(new ConnectError("calls with one answer only", Code.Unimplemented)),
  };
}
