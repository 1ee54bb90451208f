import type { ClientHttp2Stream } from "node:http2";
import { Code, ConnectError, type ConnectRouter, createClient } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { closeCallStreams, streamTo } from "../../../test/support/call-streams.ts";
import { PassiveParty } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { reopenedCalls } from "./reopened-calls.ts";

afterEach(closeCallStreams);

/** A party that ends trees, or does what a test says; and the streams that were opened to it. */
function party({ answers = (): Promise<object> => Promise.resolve({}) } = {}) {
  const streams: ClientHttp2Stream[] = [];
  const routes = (router: ConnectRouter): void => void router.service(PassiveParty, { finishTree: answers });
  const open = async (): Promise<ClientHttp2Stream> => {
    const stream = await streamTo(routes);
    streams.push(stream);
    return stream;
  };
  return { streams, open };
}

test("calls share a stream, and the next call after it was lost opens another one", async () => {
  const { streams, open } = party();
  const client = createClient(PassiveParty, reopenedCalls(open));
  for (let call = 0; call < 3; call++) await client.finishTree({});
  expect(streams).toHaveLength(1);
  const closed = new Promise((resolve) => streams[0].once("close", resolve));
  streams[0].destroy();
  await closed;
  await client.finishTree({});
  expect(streams).toHaveLength(2);
});

test("a call that is too late is cancelled, and the stream is used further", async () => {
  let answer = (): Promise<object> => new Promise(() => {});
  const { streams, open } = party({ answers: () => answer() });
  const client = createClient(PassiveParty, reopenedCalls(open));
  await expect(client.finishTree({}, { timeoutMs: 20 })).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  answer = () => Promise.resolve({});
  await client.finishTree({}, { timeoutMs: 10_000 });
  expect(streams).toHaveLength(1);
});

test("a stream that is not opened in time fails its call; one that cannot be opened is tried again", async () => {
  const never = createClient(
    PassiveParty,
    reopenedCalls(() => new Promise(() => {})),
  );
  await expect(never.finishTree({}, { timeoutMs: 20 })).rejects.toMatchObject({ code: Code.DeadlineExceeded });
  const { open } = party();
  let tries = 0;
  const client = createClient(
    PassiveParty,
    reopenedCalls(() => (++tries === 1 ? Promise.reject(new ConnectError("refused", Code.Unavailable)) : open())),
  );
  await expect(client.finishTree({})).rejects.toMatchObject({ code: Code.Unavailable });
  await client.finishTree({});
  expect(tries).toBe(2);
});

test("a caller that gives up cancels its call", async () => {
  const { open } = party({ answers: () => new Promise(() => {}) });
  const client = createClient(PassiveParty, reopenedCalls(open));
  const giveUp = new AbortController();
  const call = client.finishTree({}, { signal: giveUp.signal });
  setTimeout(() => giveUp.abort(), 10);
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
});
