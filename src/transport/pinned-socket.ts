/** A TLS socket that is returned only if its peer has presented the pinned certificate. */
import { isIP } from "node:net";
import { connect as connectSocket, type TLSSocket } from "node:tls";
import { checkCertificate } from "./pinned-certificate.ts";
import { type Address, type TlsIdentity, tlsOptions } from "./tls-settings.ts";

/** How long a connection may take until the peer has presented its certificate. */
const openMsMax = 20_000;

/** A connection to the pinned party only. */
export function pinnedSocket(
  name: string,
  identity: TlsIdentity,
  pinnedPassive: string,
  { host, port }: Address,
): Promise<TLSSocket> {
  const trouble = (der: Uint8Array | undefined): Error | undefined => {
    const checked = checkCertificate(der, [{ name, fingerprint: pinnedPassive }]);
    return typeof checked === "string" ? new Error(`certificate of ${name}: ${checked}`) : undefined;
  };
  return new Promise((resolve, reject) => {
    const socket = connectSocket({
      ...tlsOptions(identity),
      host,
      port,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["h2"],
      // The name in the certificate does not matter: the certificate itself is pinned.
      checkServerIdentity: (_host, certificate) => trouble(certificate.raw),
    });
    socket.on("error", reject);
    // A peer that accepts the connection and sends nothing, or no peer at all.
    const deadline = setTimeout(() => socket.destroy(new Error(`no answer within ${openMsMax / 1000} s`)), openMsMax);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("secureConnect", () => {
      // Checked again, because without an authority Node does not call the function above.
      const error = trouble(socket.getPeerCertificate().raw);
      clearTimeout(deadline);
      if (error === undefined) resolve(socket);
      else socket.destroy(error);
    });
  });
}
