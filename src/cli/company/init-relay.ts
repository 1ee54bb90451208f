/** `tandem init relay` and `tandem init room`: what the operator of a relay starts with. */
import type { MadeRoom } from "../../party/relay-files/init-relay.ts";
import { portNumber } from "../whole-number.ts";

export interface InitRelayFlags {
  readonly name?: string;
  readonly host?: string;
  readonly port?: string;
  readonly room?: string;
  readonly out: string;
}

const relayPort = "443";
const usualRoom = "room-1";

export async function runInitRelay({ host, port, room, out }: InitRelayFlags): Promise<void> {
  const { initRelay } = await import("../../party/relay-files/init-relay.ts");
  const made = await initRelay({
    host: host ?? "0.0.0.0",
    port: portNumber("--port", port ?? relayPort),
    room: room ?? usualRoom,
    directory: out,
  });
  process.stdout.write(
    [
      `Wrote ${made.configPath}, a secret key next to it (key.pem: keep it here) and a certificate.`,
      "",
      `The relay's fingerprint:  ${made.fingerprint}`,
      "",
      ...tokenLines(made),
      "",
      `Next: send each party the relay's address and fingerprint, the room's name (${room ?? usualRoom}) and its own`,
      `token, over an encrypted channel. Then delete the token files, and run: tandem relay -c ${made.configPath}`,
      "",
    ].join("\n"),
  );
}

export async function runInitRoom({ name, room, out }: InitRelayFlags): Promise<void> {
  const { initRoom } = await import("../../party/relay-files/init-relay.ts");
  const made = await initRoom({ room: room ?? name ?? usualRoom, directory: out });
  process.stdout.write(
    [
      ...tokenLines(made),
      "",
      "Next: add these lines to 'rooms' of relay.yaml, and restart the relay:",
      made.lines,
      "",
    ].join("\n"),
  );
}

function tokenLines({ tokenPaths: { active, passive } }: MadeRoom): string[] {
  return [
    "Each end of the room has a token of its own:",
    `  the active party's   ${active}`,
    `  the passive party's  ${passive}`,
  ];
}
