/**
 * TLS begins with a record that contains the client's hello. Until it is complete a connection costs no more than its
 * socket: a peer that sends nothing, part of it or something else never gets a TLS engine.
 */
import type { Socket } from "node:net";

const handshakeRecord = 22;
const headerBytes = 5;
/** Limit of a record's content (RFC 8446, 5.1). */
const contentBytesMax = 1 << 14;

/** @param begin called once the record has arrived; the socket still has it unread */
export function onFirstRecord(socket: Socket, begin: () => void, refuse: (why: string) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const look = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      chunks.push(chunk);
      size += chunk.length;
    }
    if (size < headerBytes) return;
    const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    chunks.splice(0, chunks.length, bytes);
    const contentBytes = bytes.readUInt16BE(3);
    if (bytes[0] !== handshakeRecord || contentBytes > contentBytesMax) {
      socket.off("readable", look);
      refuse("it does not speak TLS");
    } else if (size >= headerBytes + contentBytes) {
      socket.off("readable", look);
      socket.unshift(bytes);
      begin();
    }
  };
  socket.on("readable", look);
}
