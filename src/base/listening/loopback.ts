/**
 * Whether a host can be reached from its own machine only. Servers without a password depend on it, so the answer is no
 * in case of doubt: a name other than localhost may point anywhere, and so may text that only looks like an address.
 */
import { BlockList, isIP } from "node:net";

/** The list compares addresses, not their spellings, and recognises IPv4-mapped IPv6 (::ffff:127.0.0.1). */
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** @param host a name or an address, without brackets */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  // An address with a zone (fe80::1%eth0) belongs to one network card.
  const family = host.includes("%") ? 0 : isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}
