/**
 * How a partner is reached, in the entry of `passives` or `active` that names it. With host and port this party dials
 * it; without, the partner dials this party's `listen`. The rule is the same for both roles.
 */
import type * as z from "zod";
import { object, text, wholeNumber } from "../../base/parameters/config-fields.ts";
import type { Channel } from "../../transport/pipes/channel.ts";
import type { Address } from "../../transport/tls-settings.ts";
import type { ConfigFile } from "./config-file.ts";

export const channelFields = {
  host: text.optional(),
  port: wholeNumber(1, 65535).optional(),
};

const channelObject = object(channelFields);
type ChannelFields = z.output<typeof channelObject>;

interface Partner extends ChannelFields {
  readonly name: string;
  readonly fingerprint: readonly string[];
}

/** @throws TandemError FILE_FORMAT naming the field */
export function channelsFrom<Role extends "passives" | "active">(
  file: ConfigFile,
  role: Role,
  config: { readonly listen?: Address | undefined } & Readonly<Record<Role, readonly Partner[]>>,
): { readonly name: string; readonly fingerprint: readonly string[]; readonly channel: Channel }[] {
  const { listen } = config;
  const partners: readonly Partner[] = config[role];
  const channels = partners.map((partner, i) => ({
    name: partner.name,
    fingerprint: partner.fingerprint,
    channel: channelFrom(file, [role, i], partner, listen),
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
  path: readonly [string, number],
  { host, port }: ChannelFields,
  listen: Address | undefined,
): Channel {
  const place = `${path[0]}[${path[1] + 1}]`;
  if (host !== undefined && port !== undefined) return { host, port };
  if (host !== undefined || port !== undefined) {
    const missing = host === undefined ? "host" : "port";
    throw file.error([...path, missing], `field '${place}.${missing}' is missing: host and port go together`);
  }
  if (listen !== undefined) return { listen };
  throw file.error(
    path[0] === "active" ? ["listen"] : [...path, "host"],
    path[0] === "active"
      ? `field 'listen' is missing: ${place} dials this party (with host and port in that entry, this party dials it)`
      : `field '${place}.host' is missing (or, where that party dials this one, 'listen' at the top)`,
  );
}
