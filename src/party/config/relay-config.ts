/** relay.yaml: where a relay listens, its rooms with the digests of their tokens, and its limits. */
import { object, listOf, oneOf, text, wholeNumber, yesOrNo } from "../../base/parameters/config-fields.ts";
import type * as z from "zod";
import { logLevels } from "../../record/log-line.ts";
import { roomSyntax, roomSyntaxWords } from "../../transport/pipes/relay-terms.ts";
import { openConfig } from "./config-role.ts";

const digest = text.regex(/^[0-9a-f]{64}$/, "must be a digest as 'tandem init room' prints it, and never a token");
/** Two of an end while its token is replaced. */
const digests = listOf(digest).min(1, "must have a digest").max(2, "must have at most two digests");

export const relayConfig = object({
  name: text.default("relay"),
  listen: object({ host: text, port: wholeNumber(0, 65535) }),
  tls: object({ certificate: text, key: text, insecure_key_file: yesOrNo.default(false) }),
  rooms: listOf(object({ name: text.regex(roomSyntax, roomSyntaxWords), active: digests, passive: digests })).min(
    1,
    "must have at least one room; 'tandem init room' makes one",
  ),
  limits: object({
    /** Of one end of a room. */
    connections_per_end: wholeNumber(2, 10_000).default(64),
    connections_per_minute: wholeNumber(1, 100_000).default(240),
    /** Of all rooms. */
    connections: wholeNumber(2, 100_000).default(512),
    /** Of a message. */
    frame_kilobytes: wholeNumber(16, 65_536).default(2048),
    /** That wait in one direction of a pair. */
    waiting_kilobytes: wholeNumber(16, 65_536).default(1024),
    /** Of a room; 0: no limit. */
    megabytes_per_second: wholeNumber(0, 100_000).default(0),
    absent_seconds: wholeNumber(1, 600).default(10),
    ping_seconds: wholeNumber(1, 600).default(20),
  }).prefault({}),
  log: object({ level: oneOf(logLevels).default("info") }).prefault({}),
});

export type RelayConfig = z.output<typeof relayConfig>;

/** @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming file, line and field */
export async function readRelayConfig(path: string): Promise<RelayConfig> {
  const file = await openConfig(path, "relay");
  const config = file.parse(relayConfig);
  const { rooms, tls } = config;
  for (const [i, { name, active, passive }] of rooms.entries()) {
    const place = `rooms[${i + 1}]`;
    if (rooms.findIndex((other) => other.name === name) < i)
      throw file.error(["rooms", i, "name"], `field '${place}.name': two rooms have the same name`);
    if (active.some((one) => passive.includes(one)))
      throw file.error(["rooms", i, "passive"], `field '${place}.passive': both ends have the same token`);
  }
  return { ...config, tls: { ...tls, certificate: file.resolve(tls.certificate), key: file.resolve(tls.key) } };
}
