/** A TLS socket that is handed out only when its other end has shown the pinned certificate. */
import { isIP } from "node:net";
import { connect as connectSocket, type TLSSocket } from "node:tls";
import { checkCertificate } from "./pinned-certificate.ts";
import { type Address, type TlsIdentity, tlsOptions } from "./tls-settings.ts";

/** How long a connection may take until the other side has shown its certificate. */
const openMsMax = 20_000;

/** A connection to the pinned party, and to nobody else. */
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
      // The name in the certificate is of no interest: the certificate itself is known.
      checkServerIdentity: (_host, certificate) => trouble(certificate.raw),
    });
    socket.on("error", reject);
    // Somebody who takes the connection and says nothing, or nobody at all.
    const deadline = setTimeout(() => socket.destroy(new Error(`no answer within ${openMsMax / 1000} s`)), openMsMax);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("secureConnect", () => {
      // Asked again, because without an authority Node has not asked the function above.
      const error = trouble(socket.getPeerCertificate().raw);
      clearTimeout(deadline);
      if (error === undefined) resolve(socket);
      else socket.destroy(error);
    });
  });
}
