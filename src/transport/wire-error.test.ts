/** How failures of calls are classified. */
import { create, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { type ActiveTreeFinished, PassiveParty, PassiveReadySchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { peerOver } from "./peer-client.ts";
import { fromWireError, isPartyFault } from "./wire-error.ts";

/** A message with a field that stops in the middle. */
const unreadable = { $unknown: [{ no: 1, wireType: 2, data: Uint8Array.of(9, 1) }] };

const peer = peerOver(
  "shop",
  createRouterTransport(({ service }) => {
    service(PassiveParty, {
      finishTree: () => ({}),
      setUp: () => ({ ...create(PassiveReadySchema), ...unreadable }) as MessageShape<typeof PassiveReadySchema>,
    });
  }),
);

test("a message that cannot be decoded is refused: the party is not lost, and waiting would not help", async () => {
  const request = { $typeName: "tandem.v1.ActiveTreeFinished", tree: 1, ...unreadable } as ActiveTreeFinished;
  await expectError(() => peer.finishTree(request, {}), "PROTOCOL_STATE", /shop.*refused/);
  await expectError(() => peer.setUp({}, {}), "PROTOCOL_STATE", /shop.*refused/);
});

test("a bug of the other party is distinguished from other internal errors of the connection", () => {
  const broken = new ConnectError("http/2 stream closed", Code.Internal);
  expect(fromWireError(broken, "shop").code).toBe("PARTY_LOST");
  expect(isPartyFault(fromWireError(broken, "shop"))).toBe(false);
  const bug = new ConnectError("parse binary: a bug", Code.Internal, { "tandem-code": "INTERNAL" });
  expect(fromWireError(bug, "shop").code).toBe("PARTY_LOST");
  expect(isPartyFault(fromWireError(bug, "shop"))).toBe(true);
});
