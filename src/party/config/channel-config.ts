/**
 * How a partner is reached, in the entry of `passives` or `active` that names it. With host and port this party dials
 * it; with a relay both dial that; with neither the partner dials this party's `listen`. The rule is the same for both
 * roles.
 */
import * as z from "zod";
import { object, text, wholeNumber } from "../../base/parameters/config-fields.ts";
import type { Channel } from "../../transport/pipes/channel.ts";
import { credentialsIn, proxyAt, type ProxyChoice, proxyUrlWords } from "../../transport/pipes/proxy.ts";
import type { RelayAccess } from "../../transport/pipes/relay-pipe.ts";
import { type RelayEnd, roomSyntax, roomSyntaxWords } from "../../transport/pipes/relay-terms.ts";
import type { Address } from "../../transport/tls-settings.ts";
import type { ConfigFile } from "./config-file.ts";
import { fingerprint } from "./fingerprint-field.ts";

const relayUrl = /^wss:\/\/(\[[0-9a-fA-F:.]+\]|[^\s/:@?#[\]]+)(?::([0-9]{1,5}))?(\/[^\s?#]*)?$/;
const relay = object({
  url: text.regex(relayUrl, "must be wss://host, wss://host:port or wss://host/path"),
  room: text.regex(roomSyntax, roomSyntaxWords),
  /** A file with the token of this party's end. */
  token_file: text,
  /** Of the relay's certificate; left out: it must be of an authority. */
  fingerprint: fingerprint.optional(),
  /** Left out: those that Node knows. */
  authority: text.optional(),
  /** Of a message; gateways between party and relay may have a limit. */
  frame_kilobytes: wholeNumber(16, 65_536).default(2048),
});

export const channelFields = {
  host: text.optional(),
  port: wholeNumber(1, 65535).optional(),
  relay: relay.optional(),
  /** Left out: that of HTTPS_PROXY, unless NO_PROXY excepts the host. */
  proxy: z
    .union([
      z.literal("none"),
      text.refine((url) => proxyAt(url) !== null, proxyUrlWords),
      object({ url: text.refine((url) => proxyAt(url) !== null, proxyUrlWords), credentials_file: text.optional() }),
    ])
    .optional(),
};

const channelObject = object(channelFields);
type ChannelFields = z.output<typeof channelObject>;

interface Partner extends ChannelFields {
  readonly name: string;
  readonly fingerprint: readonly string[];
}

interface Given {
  readonly listen?: Address | undefined;
  readonly tls: { readonly insecure_key_file: boolean };
}

interface Channelled {
  readonly name: string;
  readonly fingerprint: readonly string[];
  readonly channel: Channel;
}

/** @throws TandemError FILE_FORMAT naming the field */
export function channelsFrom<Role extends "passives" | "active">(
  file: ConfigFile,
  role: Role,
  config: Given & Readonly<Record<Role, readonly Partner[]>>,
): Channelled[] {
  const { listen } = config;
  const partners: readonly Partner[] = config[role];
  const channels = partners.map((partner, i) => ({
    name: partner.name,
    fingerprint: partner.fingerprint,
    channel: channelFrom(file, [role, i], partner, config),
  }));
  if (listen !== undefined && !channels.some(({ channel }) => "listen" in channel))
    throw file.error(
      ["listen"],
      `field 'listen': no partner dials this party, since each entry of '${role}' says how it is reached; leave it out`,
    );
  return channels;
}

function channelFrom(
  file: ConfigFile,
  path: readonly ["passives" | "active", number],
  { host, port, relay: given, proxy: wanted }: ChannelFields,
  { listen, tls: { insecure_key_file: insecure } }: Given,
): Channel {
  const place = `${path[0]}[${path[1] + 1}]`;
  const proxy = proxyFrom(file, wanted, insecure);
  if (given !== undefined) {
    if (host !== undefined || port !== undefined)
      throw file.error([...path, "relay"], `fields '${place}.host' and '${place}.relay' exclude each other`);
    const end = path[0] === "passives" ? "active" : "passive";
    return { relay: { ...relayFrom(file, given, end, insecure), ...proxy } };
  }
  if (host !== undefined && port !== undefined) return { host, port, ...proxy };
  if (host !== undefined || port !== undefined) {
    const missing = host === undefined ? "host" : "port";
    throw file.error([...path, missing], `field '${place}.${missing}' is missing: host and port go together`);
  }
  if (wanted !== undefined)
    throw file.error([...path, "proxy"], `field '${place}.proxy': that party dials this one; leave it out`);
  if (listen !== undefined) return { listen };
  throw file.error(
    path[0] === "active" ? ["listen"] : [...path, "host"],
    path[0] === "active"
      ? `field 'listen' is missing: ${place} dials this party, unless it has host and port, or a relay`
      : `field '${place}.host' is missing (or a relay; or, where that party dials this one, 'listen' at the top)`,
  );
}

function relayFrom(
  file: ConfigFile,
  given: z.output<typeof relay>,
  end: RelayEnd,
  insecureFiles: boolean,
): Omit<RelayAccess, "proxy"> {
  const [, host = "", port = "443", path = ""] = relayUrl.exec(given.url) ?? [];
  return {
    host: host.replaceAll(/[[\]]/g, ""),
    port: Number(port),
    prefix: path.replace(/\/+$/, ""),
    room: given.room,
    end,
    tokenFile: file.resolve(given.token_file),
    insecureFiles,
    fingerprints: given.fingerprint ?? [],
    authority: given.authority === undefined ? undefined : file.resolve(given.authority),
    frameBytesMax: given.frame_kilobytes * 1024,
  };
}

function proxyFrom(
  file: ConfigFile,
  given: ChannelFields["proxy"],
  insecure: boolean,
): { readonly proxy?: ProxyChoice } {
  if (given === undefined) return {};
  if (given === "none") return { proxy: null };
  const { url, credentials_file: path } = typeof given === "string" ? { url: given } : given;
  return { proxy: proxyAt(url, path === undefined ? null : credentialsIn(file.resolve(path), insecure)) };
}
