/** Which certificates and connections a passive party's TLS server refuses. */
import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { connect as connectSecure, type ConnectionOptions } from "node:tls";
import { type ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { joined, TlsBed } from "../../test/support/tls-bed.ts";
import { issued, type Listening, listening, withAuthority } from "../../test/support/tls-pair.ts";
import type { TandemError } from "../base/error.ts";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { createAuthority } from "./certificates.ts";
import { certificateFingerprint } from "./pinned-certificate.ts";
import { type TlsPeer } from "./tls-connect.ts";
import { type TlsIdentity } from "./tls-settings.ts";

const bed = new TlsBed();

describe("admission refuses", () => {
  async function expectRefused(
    connect: (made: Listening) => TlsPeer,
    code: "CERTIFICATE" | "PARTY_LOST",
    own?: TlsIdentity,
  ): Promise<TandemError> {
    const { service, hello, job } = bed.lonely();
    const made = await bed.served(service, own);
    const peer = bed.closing(connect(made));
    const error = await expectError(() => joined(peer, hello), code, /party telecom/);
    expect(error.message).toMatch(/certificate/);
    expect(job.observed, "no call has reached the role").toEqual([]);
    if (own === undefined) {
      // A refused peer neither ends the party's job nor keeps the pinned party out.
      await joined(bed.closing(made.connect("telecom")), hello);
      expect(job.observed).toEqual([["passive-1", "joined", "bank"]]);
    }
    return error;
  }

  test("a client certificate of another authority", async () => {
    const other = await createAuthority("another", 1);
    const foreign = withAuthority(await other.issue("bank", ["127.0.0.1"]), bed.parties.authority);
    await expectRefused((made) => made.connect("telecom", foreign), "PARTY_LOST");
  });

  test("no client certificate", async () => {
    const { service, hello } = bed.lonely();
    const { server } = await bed.served(service);
    const transport = createGrpcTransport({
      baseUrl: `https://127.0.0.1:${server.port}`,
      nodeOptions: { ca: bed.parties.authority.certificate },
    });
    const answers = createClient(PassiveParty, transport).join(hello)[Symbol.asyncIterator]();
    const refused = await answers.next().catch((error: unknown) => error);
    expect(String((refused as ConnectError).cause)).toMatch(/certificate required/);
  });

  test("a client of the same authority that is not the pinned one", async () => {
    const mallory = await issued(bed.parties.authority, "bank");
    const error = await expectRefused((made) => made.connect("telecom", mallory), "CERTIFICATE");
    expect(error.message).toMatch(/telecom answers, and does not know this party's certificate/);
  });

  test("a server of the same authority that is not the pinned one", async () => {
    const mallory = await issued(bed.parties.authority, "telecom");
    await expectRefused((made) => made.connect("telecom"), "CERTIFICATE", mallory);
  });

  test("a server of another authority, even if its certificate is pinned", async () => {
    const other = await createAuthority("another", 1);
    const foreign = withAuthority(await other.issue("telecom", ["127.0.0.1"]), bed.parties.authority);
    await expectRefused(
      (made) => made.connect("telecom", bed.parties.active, certificateFingerprint(foreign.certificate)),
      "CERTIFICATE",
      foreign,
    );
  });

  test("an expired server certificate, even if it is pinned", async () => {
    const past = await createAuthority("past", -0.02);
    const expired = withAuthority(await past.issue("telecom", ["127.0.0.1"]), bed.parties.authority);
    const trusting = { ...bed.parties.active, authority: past.certificate };
    const error = await expectRefused(
      (made) => made.connect("telecom", trusting, certificateFingerprint(expired.certificate)),
      "CERTIFICATE",
      expired,
    );
    expect(error.message).toMatch(/expired/);
  });

  test("an expired client certificate, even if it is pinned", async () => {
    const past = await createAuthority("past", -0.02);
    const expired = withAuthority(await past.issue("bank", ["127.0.0.1"]), bed.parties.authority);
    const { service, hello } = bed.lonely();
    const made = await listening(
      service,
      { ...bed.parties, active: expired },
      { ...bed.parties.passive, authority: past.certificate },
    );
    bed.atEnd(() => made.server.close());
    await expectError(
      () => joined(bed.closing(made.connect("telecom", expired)), hello),
      "PARTY_LOST",
      /party telecom.*certificate/,
    );
  });

  test("a client that speaks no TLS", async () => {
    const { server } = await bed.served(bed.lonely().service);
    const socket = connectPlain(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    const received: Buffer[] = [];
    socket.on("data", (data) => received.push(data));
    await once(socket, "close");
    expect(Buffer.concat(received).toString("latin1")).not.toMatch(/HTTP|tandem/);
  });

  async function outcomeOf(options: ConnectionOptions): Promise<string> {
    const { server } = await bed.served(bed.lonely().service);
    const socket = connectSecure({
      host: "127.0.0.1",
      port: server.port,
      ca: bed.parties.authority.certificate,
      cert: bed.parties.active.certificate,
      key: bed.parties.active.key,
      checkServerIdentity: () => undefined,
      ...options,
    });
    bed.atEnd(() => socket.destroy());
    return new Promise((resolve) => {
      socket.once("secureConnect", () => resolve(`${socket.getProtocol()} ${String(socket.alpnProtocol)}`));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  }

  test("a client that speaks TLS 1.2, although its certificate is the right one", async () => {
    expect(await outcomeOf({ maxVersion: "TLSv1.2", ALPNProtocols: ["h2"] })).toMatch(/PROTOCOL_VERSION/);
    expect(await outcomeOf({ ALPNProtocols: ["h2"] })).toBe("TLSv1.3 h2");
  });
});
