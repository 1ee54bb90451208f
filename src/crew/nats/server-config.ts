/** A config for nats-server: mutual TLS, an account for a crew, and the least permissions for its two users. */
import { partyUser, workerUser } from "../crew-name.ts";
import { partyRights, type Rights, workerRights } from "./rights.ts";

export interface ServerConfig {
  readonly crew: string;
  /** Where clients connect. */
  readonly listen: string;
  /** Where the operator's tools query metrics. */
  readonly monitor: string;
}

/** Paths are relative to the working directory of the server. */
export function serverConfigText({ crew, listen, monitor }: ServerConfig): string {
  return `# nats-server for the crew of ${crew}. Start it in this folder: nats-server -c nats.conf
# It needs this file, ca.pem, server.pem and server.key. It must not have crew.key: what it carries is sealed with that.
listen: "${listen}"
http: "${monitor}"            # figures for the operator: /varz, /jsz. Nothing secret is there

jetstream {
  store_dir: "."                # its folder jetstream/ is made in here
  # A round's gradients must fit: 512 bytes a row with keys of 2048 bits, times replicas; and a tenth more.
  max_memory_store: 4GB
  max_file_store: 64GB
}

# Both sides show a certificate, and the name in a client's is its user.
tls {
  cert_file: "server.pem"
  key_file: "server.key"
  ca_file: "ca.pem"
  verify_and_map: true
  timeout: 5
}

accounts {
${accountText(crew)}
}
`;
}

/** A second crew on the same server is a second account: it cannot see the streams of the first. */
export function accountText(crew: string): string {
  return `  "tandem-${crew}": {
    jetstream: enabled
    users: [
${userText(partyUser(crew), partyRights(crew))}
${userText(workerUser(crew), workerRights(crew))}
    ]
  }`;
}

function userText(user: string, { publish, subscribe }: Rights): string {
  return `      { user: "${user}", permissions: {
        publish: { allow: [
${listText(publish)}
        ] }
        subscribe: { allow: [
${listText(subscribe)}
        ] }
      } }`;
}

function listText(subjects: readonly string[]): string {
  return subjects.map((subject) => `          "${subject}"`).join("\n");
}
