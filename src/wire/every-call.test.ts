/**
 * Every call of the descriptor, from a peer to a role and back, with its errors. Calls are not named here unless they
 * are special: a call that is added to proto/ is tested too.
 */
import { clone, create, createFileRegistry, type DescMethod, type DescService } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createRouterTransport, type Transport } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { closeCallStreams, transportTo } from "../../test/support/call-streams.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { TandemError } from "../base/error.ts";
import { PassiveParty } from "./generated/tandem/v1/tandem_pb.ts";
import { toHandlers } from "../transport/handlers.ts";
import { connectInMemory } from "../transport/in-memory.ts";
import { type PartyHandler, partyRoutes } from "../transport/party-service.ts";
import { type JobAnswers, passiveService, type PassiveService } from "../transport/passive-service.ts";
import { peerOver } from "../transport/peer-client.ts";
import { clientOver } from "../transport/client.ts";

type Received = { readonly name: string; readonly requests: string[] };

const takesMany = ({ methodKind }: DescMethod): boolean =>
  methodKind === "client_streaming" || methodKind === "bidi_streaming";
const givesMany = ({ methodKind }: DescMethod): boolean =>
  methodKind === "server_streaming" || methodKind === "bidi_streaming";

/** Answers every call of a service with two empty messages, or with one, or throws. */
function fakeAnswers(service: DescService, received: Received[], thrown: () => unknown): object {
  const answers = service.methods.map((method) => {
    const receive = async (request: unknown): Promise<void> => {
      const requests: string[] = [];
      if (!takesMany(method)) requests.push((request as { $typeName: string }).$typeName);
      else for await (const item of request as AsyncIterable<{ $typeName: string }>) requests.push(item.$typeName);
      received.push({ name: method.localName, requests });
      const error = thrown();
      if (error !== null) throw error;
    };
    async function* many(request: unknown): AsyncGenerator<unknown> {
      await receive(request);
      yield create(method.output);
      yield create(method.output);
    }
    const one = async (request: unknown): Promise<unknown> => {
      await receive(request);
      return create(method.output);
    };
    return [method.localName, givesMany(method) ? many : one];
  });
  return Object.fromEntries(answers) as object;
}

/** The same as a role, which gives join and finishJob their answers at once. */
function fakeRole(received: Received[], thrown: () => unknown = () => null): JobAnswers {
  const atOnce =
    ({ localName, output }: DescMethod) =>
    (request: { $typeName: string }): unknown => {
      received.push({ name: localName, requests: [request.$typeName] });
      const error = thrown();
      if (error !== null) throw error;
      return create(output);
    };
  const { join, finishJob } = PassiveParty.method;
  const role = { ...fakeAnswers(PassiveParty, received, thrown), join: atOnce(join), finishJob: atOnce(finishJob) };
  return role as unknown as JobAnswers; // made from the descriptor, like the type
}

/** Makes a call with empty messages, and reads its answers. */
async function call(calls: object, method: DescMethod): Promise<unknown[]> {
  const leave = new AbortController();
  const options = { signal: leave.signal };
  async function* requests(): AsyncGenerator<unknown> {
    yield create(method.input);
    yield create(method.input);
  }
  const made = (calls as Record<string, (request: unknown, options: object) => unknown>)[method.localName](
    takesMany(method) ? requests() : create(method.input),
    options,
  );
  if (!givesMany(method)) return [await made];
  const answers: unknown[] = [];
  for await (const answer of made as AsyncIterable<unknown>) {
    answers.push(answer);
    if (method === PassiveParty.method.join) break; // it lasts as long as the job
  }
  leave.abort();
  return answers;
}

function expectedRequests(method: DescMethod): string[] {
  return Array<string>(takesMany(method) ? 2 : 1).fill(method.input.typeName);
}

const typeNames = (messages: unknown[]): string[] =>
  messages.map((message) => (message as { $typeName: string }).$typeName);

/** A party that has this job open for every peer. */
function routesOf(service: PassiveService): ReturnType<typeof partyRoutes> {
  const handler: Pick<PartyHandler, "openJob" | "job" | "jobRefused"> = {
    openJob: () => Promise.resolve(service),
    job: () => service,
    jobRefused: () => {},
  };
  return partyRoutes(handler as PartyHandler);
}

afterEach(closeCallStreams);

describe.each([
  ["a role", (service: PassiveService) => connectInMemory("telecom", service)],
  ["a party's handler", (service: PassiveService) => peerOver("telecom", createRouterTransport(routesOf(service)))],
  [
    "a party's handler, in one stream",
    (service: PassiveService) => peerOver("telecom", transportTo(routesOf(service))),
  ],
])("from a peer to %s", (_name, connect) => {
  test.each(PassiveParty.methods.map((method) => [method.localName, method] as const))(
    "%s: requests and answers come through",
    async (name, method) => {
      const received: Received[] = [];
      const answers = await call(connect(passiveService(fakeRole(received))), method);
      expect(received).toEqual([{ name, requests: expectedRequests(method) }]);
      const count = givesMany(method) && method !== PassiveParty.method.join ? 2 : 1;
      expect(typeNames(answers)).toEqual(Array<string>(count).fill(method.output.typeName));
    },
  );

  test.each(PassiveParty.methods.map((method) => [method.localName, method] as const))(
    "%s: a refusal arrives with code and message, a bug without details",
    async (_call, method) => {
      const refusing = fakeRole([], () => new TandemError("FILE_UNWRITABLE", "the disk is full"));
      const refused = passiveService(refusing);
      await expectError(() => call(connect(refused), method), "FILE_UNWRITABLE", /^the disk is full$/);
      const broken = passiveService(fakeRole([], () => new RangeError("row 42")));
      const error = await expectError(() => call(connect(broken), method), "PARTY_LOST", /^party telecom failed/);
      expect(error.message).not.toContain("row 42");
      expect((await broken.ended).failure).toMatchObject({ code: "INTERNAL", message: "RangeError: row 42" });
    },
  );
});

test.each(PassiveParty.methods.filter((method) => method !== PassiveParty.method.join))(
  "$localName is refused to a caller that has no job open",
  async (method) => {
    const refuse = (): never => {
      throw new TandemError("PROTOCOL_STATE", "no job under way");
    };
    const peer = peerOver("telecom", createRouterTransport(partyRoutes({ job: refuse } as unknown as PartyHandler)));
    await expectError(() => call(peer, method), "PROTOCOL_STATE", /^no job under way$/);
  },
);

describe("a connection that breaks", () => {
  const broken = (): never => {
    throw new ConnectError("ECONNRESET", Code.Unavailable);
  };

  test.each(PassiveParty.methods.map((method) => [method.localName, method] as const))(
    "%s: the party is gone; only at join may it never have been there",
    async (name, method) => {
      const peer = peerOver("telecom", { unary: broken, stream: () => Promise.reject(new ConnectError("ECONNRESET")) });
      const message =
        name === "join"
          ? /^party telecom cannot be reached: the connection was closed before it answered \(ECONNRESET\)/
          : /^party telecom is gone: ECONNRESET$/;
      await expectError(() => call(peer, method), "PARTY_LOST", message);
    },
  );

  test("a stream that ends without its one answer is a failure", async () => {
    const empty: Transport["stream"] = async (method) => ({
      stream: true,
      service: method.parent,
      method,
      header: new Headers(),
      trailer: new Headers(),
      message: (async function* () {})(),
    });
    const peer = peerOver("telecom", { unary: broken, stream: empty });
    await expectError(() => call(peer, PassiveParty.method.gradients), "PARTY_LOST", /^party telecom is gone: /);
  });

  test("after the first answer of join the party was reached", async () => {
    const answers = { ...fakeAnswers(PassiveParty, [], () => null), join: thenBroken };
    async function* thenBroken(): AsyncGenerator<object> {
      yield {};
      broken();
    }
    const handlers = toHandlers(PassiveParty, answers as never);
    const transport = createRouterTransport(({ service }) => void service(PassiveParty, handlers));
    const stream = peerOver("telecom", transport).join({}, {})[Symbol.asyncIterator]();
    expect((await stream.next()).done).toBe(false);
    await expectError(() => stream.next(), "PARTY_LOST", /^party telecom is gone: ECONNRESET$/);
  });
});

/** The service with a call of each kind that it does not have yet. */
function withNewCalls(): DescService {
  const file = clone(FileDescriptorProtoSchema, PassiveParty.file.proto);
  for (const [clientStreaming, serverStreaming] of [
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ]) {
    const name = `New${clientStreaming ? "Many" : "One"}To${serverStreaming ? "Many" : "One"}`;
    const types = { inputType: ".tandem.v1.ActiveTreeFinished", outputType: ".tandem.v1.PassiveTreeStored" };
    const method = create(MethodDescriptorProtoSchema, { name, ...types, clientStreaming, serverStreaming });
    file.service[0].method.push(method);
  }
  const registry = createFileRegistry(
    create(FileDescriptorSetSchema, { file: [...PassiveParty.file.dependencies.map(({ proto }) => proto), file] }),
  );
  return registry.getService(PassiveParty.typeName) as DescService;
}

test("a new call in proto/ needs no change", async () => {
  const service = withNewCalls();
  expect(service.methods.length).toBe(PassiveParty.methods.length + 4);
  const received: Received[] = [];
  let thrown: unknown = null;
  const answers = fakeAnswers(service, received, () => thrown);
  const handlers = toHandlers(service, answers as never);
  const transport = createRouterTransport((router) => void router.service(service, handlers));
  const client = clientOver(service, "telecom", transport, { opening: "join" });
  for (const method of service.methods.slice(PassiveParty.methods.length)) {
    thrown = null;
    expect((await call(client, method)).length).toBe(givesMany(method) ? 2 : 1);
    expect(received.splice(0)).toEqual([{ name: method.localName, requests: expectedRequests(method) }]);
    thrown = new TandemError("PROTOCOL_STATE", "not now");
    await expectError(() => call(client, method), "PROTOCOL_STATE", /^not now$/);
    received.splice(0);
  }
});

test.each([
  ["ENGINE_LOST", "the engine has not answered"],
  ["PARTY_LOST", "its connection closed in the middle of the job"],
] as const)("an active party that leaves after %s: our log says why", async (code, why) => {
  let thrown: TandemError | null = null;
  const service = passiveService(fakeRole([], () => thrown));
  const peer = peerOver("shop", transportTo(routesOf(service)));
  const leave = new AbortController();
  const joined = peer.join({}, { signal: leave.signal })[Symbol.asyncIterator]();
  await joined.next();
  thrown = code === "PARTY_LOST" ? null : new TandemError(code, "the engine has not answered for 60 s");
  await Promise.allSettled([peer.finishTree({}, {})]);
  leave.abort();
  await joined.next().catch(() => {});
  const { failure } = await service.ended;
  expect([failure?.code, failure?.message]).toEqual([code, expect.stringContaining(why)]);
});
