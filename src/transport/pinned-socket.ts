/** A TLS socket that is returned only if its peer has presented a pinned certificate. */
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectSocket, type TLSSocket } from "node:tls";
import { CertificateRefused, checkCertificate, type PinnedParty, type RecognisedParty } from "./pinned-certificate.ts";
import { openMsMax, timedOut } from "./pipes/dial.ts";
import { type TlsIdentity, tlsOptions } from "./tls-settings.ts";

/**
 * TLS over `stream`, as its client, with the pinned party only.
 * @param host for the server's name in TLS, which devices between the parties may need
 */
export async function pinnedSocket(
  name: string,
  identity: TlsIdentity,
  pins: readonly string[],
  stream: Duplex,
  host: string | null,
): Promise<TLSSocket> {
  return (await recognisedSocket([{ name, fingerprints: pins }], identity, stream, host)).socket;
}

/** The same with any of several parties. */
export function recognisedSocket(
  parties: readonly PinnedParty[],
  identity: TlsIdentity,
  stream: Duplex,
  host: string | null = null,
): Promise<{ readonly socket: TLSSocket; readonly party: RecognisedParty }> {
  const refusalOf = (der: Uint8Array | undefined): CertificateRefused | undefined => {
    const checked = checkCertificate(der, parties);
    return checked instanceof CertificateRefused ? checked : undefined;
  };
  return new Promise((resolve, reject) => {
    const socket = connectSocket({
      ...tlsOptions(identity),
      socket: stream,
      ...(host !== null && isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["h2"],
      // The name in the certificate does not matter: the certificate itself is pinned.
      checkServerIdentity: (_host, certificate) => refusalOf(certificate.raw),
    });
    socket.on("error", reject);
    stream.once("error", (error) => socket.destroy(error));
    // A peer that accepts the connection and sends nothing.
    const deadline = setTimeout(() => socket.destroy(timedOut(openMsMax)), openMsMax);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("secureConnect", () => {
      // Checked again, because without an authority Node does not call the function above.
      const party = checkCertificate(socket.getPeerCertificate().raw, parties);
      clearTimeout(deadline);
      if (party instanceof CertificateRefused) socket.destroy(party);
      else resolve({ socket, party });
    });
  });
}
