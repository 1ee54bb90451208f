/**
 * What a relay's operator starts with: a commented relay.yaml, a key and a certificate; and for each room the tokens of
 * its two ends, of which the config has the digests only.
 */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { requireNewFile } from "../../base/files/new-file.ts";
import { osRandom } from "../../base/random.ts";
import { type RelayEnd, relayEnds, roomSyntax, roomSyntaxWords } from "../../transport/pipes/relay-terms.ts";
import { initIdentity } from "../init.ts";

const tokenBytes = 32;

export interface InitRoom {
  readonly room: string;
  readonly directory: string;
}

export interface MadeRoom {
  /** Lines for `rooms` of relay.yaml. */
  readonly lines: string;
  readonly tokenPaths: Readonly<Record<RelayEnd, string>>;
}

/** Writes the tokens of a room. @throws TandemError USAGE or FILE_UNWRITABLE; nothing that exists is overwritten */
export async function initRoom({ room, directory }: InitRoom): Promise<MadeRoom> {
  if (!roomSyntax.test(room)) throw new TandemError("USAGE", `the name of a room ${roomSyntaxWords}`);
  const path = (end: RelayEnd): string => join(directory, `${room}.${end}.token`);
  for (const end of relayEnds) await requireNewFile(path(end), "Choose another room");
  const digests = { active: "", passive: "" };
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const end of relayEnds) {
      const token = Buffer.from(osRandom.fill(new Uint8Array(tokenBytes))).toString("base64url");
      digests[end] = createHash("sha256").update(token).digest("hex");
      await writeFile(path(end), `${token}\n`, { mode: 0o600, flag: "wx" });
    }
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new TandemError("FILE_UNWRITABLE", `${directory} cannot be written${code}`, { cause });
  }
  const lines = [`  - name: ${room}`, `    active: ["${digests.active}"]`, `    passive: ["${digests.passive}"]`].join(
    "\n",
  );
  return { lines, tokenPaths: { active: path("active"), passive: path("passive") } };
}

export interface InitRelay extends InitRoom {
  readonly host: string;
  readonly port: number;
}

export interface MadeRelay extends MadeRoom {
  readonly configPath: string;
  readonly fingerprint: string;
}

/** @throws TandemError as above */
export async function initRelay({ host, port, room, directory }: InitRelay): Promise<MadeRelay> {
  const configPath = join(directory, "relay.yaml");
  await requireNewFile(configPath, "Choose another folder");
  const made = await initRoom({ room, directory });
  const text = relayText(host, port, made.lines);
  const { fingerprint } = await initIdentity("relay", directory, { [configPath]: text });
  return { ...made, configPath, fingerprint };
}

function relayText(host: string, port: number, room: string): string {
  return `# A relay: parties that may only dial out meet here. It sees sizes and times, and nothing of what they send.
# Start it with: tandem relay -c relay.yaml
# docs/relay.md and docs/config.md in the repository describe every field.
listen:
  host: ${JSON.stringify(host)}
  port: ${port}

# Parties pin this certificate, or trust the authority that issued it.
tls:
  certificate: certificate.pem
  key: key.pem

# A room joins one active party and one passive party. Each end has a token of its own. Here are their SHA-256 digests;
# the tokens are in the files that 'tandem init' wrote. 'tandem init room --name other' makes another room.
rooms:
${room}

limits:
  connections_per_end: 64      # of one end of a room
  connections_per_minute: 240  # new ones of one end
  connections: 512             # of all rooms
  frame_kilobytes: 2048        # of a message
  waiting_kilobytes: 1024      # that wait for a slow end; then the other is not read
  megabytes_per_second: 0      # of a room; 0: no limit
  absent_seconds: 10           # how long an active party waits for the passive one
  ping_seconds: 20             # so that gateways keep idle connections

log:
  level: info                  # debug, info, warn or error
`;
}
