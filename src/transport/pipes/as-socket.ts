/**
 * A stream of this process as a socket of the operating system. TLS and HTTP/2 of Node run on sockets: over a stream of
 * JavaScript, Node 20 can crash when a connection is lost while bytes wait, which a relay could bring about. The two
 * ends meet on the loopback interface, and recognise each other by a secret of this one connection.
 */
import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { osRandom } from "../../base/random.ts";
import { timedOut } from "./dial.ts";

const secretBytes = 32;
const meetMs = 5000;

/** @returns a socket whose other end is the stream: each ends when the other does */
export async function asSocket(stream: Duplex): Promise<Socket> {
  const [near, far] = await localPair();
  stream.on("error", () => {});
  stream.pipe(far).pipe(stream);
  stream.once("close", () => far.destroySoon());
  far.once("close", () => stream.destroy());
  if (stream.destroyed) far.destroy();
  return near;
}

async function localPair(): Promise<[Socket, Socket]> {
  const secret = Buffer.from(osRandom.fill(new Uint8Array(secretBytes)));
  const server = createServer({ noDelay: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const arrived = meeting(server, secret);
  const { port } = server.address() as AddressInfo;
  const near = connect({ port, host: "127.0.0.1", noDelay: true });
  near.on("error", () => {});
  near.write(secret);
  try {
    return [near, await arrived];
  } catch (error) {
    near.destroy();
    throw error;
  } finally {
    server.close();
  }
}

/** The connection that begins with the secret; others are closed. */
function meeting(server: Server, secret: Buffer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => reject(timedOut(meetMs)), meetMs);
    server.on("connection", (socket) => {
      socket.on("error", () => {});
      const look = (): void => {
        const start = socket.read(secretBytes) as Buffer | null;
        if (start === null) return;
        socket.off("readable", look);
        if (start.length !== secretBytes || !timingSafeEqual(start, secret)) return void socket.destroy();
        clearTimeout(deadline);
        resolve(socket);
      };
      socket.on("readable", look);
    });
  });
}
