/** The generated client of a service over TLS, as a company's: to say what no honest active party would. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { onTestFinished } from "vitest";
import type { TlsIdentity } from "../../src/transport/tls-settings.ts";
import type { Company } from "../world/processes.ts";

export function identityOf({ folder }: Company): TlsIdentity {
  return {
    certificate: readFileSync(join(folder, "certificate.pem"), "utf8"),
    key: readFileSync(join(folder, "key.pem"), "utf8"),
  };
}

/** On a connection of its own, until the test ends. */
export function rawClient<S extends DescService>(service: S, company: Company, port: number): Client<S> {
  return createClient(service, rawTransport(company, port));
}

/** For several services on one connection. */
export function rawTransport(company: Company, port: number): Transport {
  const { certificate: cert, key } = identityOf(company);
  const baseUrl = `https://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl, {}, { cert, key, rejectUnauthorized: false });
  onTestFinished(() => sessionManager.abort());
  return createGrpcTransport({ baseUrl, sessionManager });
}
