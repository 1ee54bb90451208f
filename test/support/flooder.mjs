/**
 * An unknown peer that floods a port of this machine, as a process of its own: `count` connections at a time, each
 * replaced as soon as it is closed.
 *
 *   node test/support/flooder.mjs <port> <kind> <connections> [certificate.pem key.pem]
 *
 * Prints "flooding" when that many connections have been made. It stops when it is killed, or its input ends.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { connect as connectSecure } from "node:tls";

const [port, kind, count, certificatePath, keyPath] = process.argv.slice(2);
const identity =
  certificatePath === undefined ? {} : { cert: readFileSync(certificatePath), key: readFileSync(keyPath) };
const plain = () => connect(Number(port), "127.0.0.1");
/** The first bytes of a ClientHello of 512 bytes. */
const helloStart = Buffer.from("16030102000100", "hex");

const kinds = {
  silent: plain,
  "half a hello": () => {
    const socket = plain();
    socket.write(helloStart);
    return socket;
  },
  trickle: () => {
    const socket = plain();
    socket.write(helloStart);
    const drops = setInterval(() => socket.write(Buffer.alloc(1)), 1000);
    socket.once("close", () => clearInterval(drops));
    return socket;
  },
  "wrong certificate": () =>
    connectSecure({
      port: Number(port),
      host: "127.0.0.1",
      rejectUnauthorized: false,
      ALPNProtocols: ["h2"],
      ...identity,
    }),
  reconnect: () => {
    const socket = plain();
    socket.once("connect", () => socket.destroy());
    return socket;
  },
  "half a request": () => {
    const socket = plain();
    socket.write("POST /predict HTTP/1.1\r\nHost: localhost\r\n");
    return socket;
  },
  "half a body": () => {
    const socket = plain();
    socket.write(
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
    );
    return socket;
  },
};

let made = 0;
function add() {
  const socket = kinds[kind]();
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.once("connect", () => {
    if (++made === Number(count)) process.stdout.write("flooding\n");
  });
  socket.once("close", () => setImmediate(add));
}
for (let i = 0; i < Number(count); i++) add();
process.stdin.on("end", () => process.exit()).resume();
