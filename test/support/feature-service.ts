/** A company's feature service, over HTTPS with a token, as docs/serving.md describes it. */
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAuthority } from "../../src/transport/certificates.ts";
import type { Table } from "../world/people.ts";

export const token = "features-of-this-company";

export interface FeatureService {
  readonly url: string;
  /** For a config. */
  readonly fields: { readonly url: string; readonly authority: string; readonly token_file: string };
  /** Bodies of the requests so far. */
  readonly asked: { readonly ids: readonly string[]; readonly features: readonly string[] }[];
  /** Answers instead, as long as it is set. */
  instead: ((response: ServerResponse) => void) | null;
  close(): Promise<void>;
}

/** @param folder for the authority's certificate and the token */
export async function startFeatureService(folder: string, { header, rows }: Table): Promise<FeatureService> {
  const authority = await createAuthority("feature authority", 1);
  const { certificate: cert, key } = await authority.issue("features", ["127.0.0.1"]);
  const [authorityPath, tokenPath] = [join(folder, "feature-authority.pem"), join(folder, "feature-token")];
  writeFileSync(authorityPath, authority.certificate);
  writeFileSync(tokenPath, token, { mode: 0o600 });
  const people = new Map(rows.map(([id, ...cells]) => [id, cells]));
  const server = createServer({ cert, key }, (request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    const asked = JSON.parse(Buffer.concat(chunks).toString("utf8")) as FeatureService["asked"][number];
    service.asked.push(asked);
    if (service.instead !== null) {
      service.instead(response);
      return;
    }
    const valueOf = (cell: string): unknown => (cell === "" ? null : Number.isNaN(Number(cell)) ? cell : Number(cell));
    const found = asked.ids.flatMap((id) => {
      const cells = people.get(id);
      if (cells === undefined) return [];
      return [[id, Object.fromEntries(asked.features.map((name) => [name, valueOf(cells[header.indexOf(name) - 1])]))]];
    });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Object.fromEntries(found)));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/features`;
  const service: FeatureService = {
    url,
    fields: { url, authority: authorityPath, token_file: tokenPath },
    asked: [],
    instead: null,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return service;
}
