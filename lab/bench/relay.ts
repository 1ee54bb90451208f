/**
 * Bytes through `tandem relay` against a direct connection: messages of 4 MB in both directions between processes, with
 * mutual TLS in both cases, interleaved. Over loopback the relay's work shares the cores with the parties'; over a line
 * it is what companies see.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initRelay } from "../../src/party/relay-files/init-relay.ts";
import { type Channel, wayTo } from "../../src/transport/pipes/channel.ts";
import { Prober } from "../../src/transport/probe.ts";
import type { TlsIdentity } from "../../src/transport/tls-settings.ts";
import { makePeople } from "../../test/world/people.ts";
import { type Company, ProcessWorld } from "../../test/world/processes.ts";
import { freePort } from "../../test/world/tandem-process.ts";
import type { Figure } from "./arithmetic.ts";
import { type Line, ShapedLine } from "./shaped-line.ts";
import { span } from "./training.ts";

export interface RelayBench {
  readonly quick: boolean;
  readonly repeats: number;
  readonly onProgress: (what: string) => void;
}

const host = "127.0.0.1";
const room = "bench";
const bodyBytes = 4_000_000;
const timeoutMs = 120_000;
const lines: readonly { readonly name: string; readonly line: Line | null }[] = [
  { name: "loopback", line: null },
  { name: "1000", line: { megabitsPerSecond: 1000, roundTripMs: 2 } },
  { name: "100", line: { megabitsPerSecond: 100, roundTripMs: 20 } },
];

export async function benchRelay(bench: RelayBench, onFigure: (figure: Figure) => void): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "tandem-relay-"));
  const people = makePeople(20, "relay");
  const world = await ProcessWorld.found(root, {
    bank: { people, columns: [0] },
    direct: { people, columns: [1] },
    relayed: { people, columns: [2] },
  });
  try {
    const [direct, relayed] = world.shops;
    const folder = join(root, "relay");
    const { configPath, fingerprint } = await initRelay({ host, port: await freePort(), room, directory: folder });
    const port = Number(/port: (\d+)/.exec(await readFile(configPath, "utf8"))?.[1]);
    await world.command("relay", "-c", configPath).errorMatches(/"event":"listening"/);
    const party = await world.spawn(direct);
    const fields = (end: "active" | "passive") => ({
      url: `wss://${host}:${port}`,
      room,
      fingerprint,
      token_file: join(folder, `${room}.${end}.token`),
    });
    const config = world.writePassive(relayed, {
      listen: undefined,
      active: [{ name: world.bank.name, fingerprint: world.bank.fingerprint, relay: fields("passive") }],
    });
    await world.command("party", "-c", config).errorMatches(/"event":"dialled"/);
    const identity = {
      certificate: await readFile(join(world.bank.folder, "certificate.pem"), "utf8"),
      key: await readFile(join(world.bank.folder, "key.pem"), "utf8"),
    };
    for (const { name, line } of lines) {
      bench.onProgress(`relay: ${name}`);
      const shaped = line === null ? null : new ShapedLine(line);
      const to = async (target: number): Promise<number> => (shaped === null ? target : shaped.to(target));
      try {
        const atRelay = { host, port: await to(port), prefix: "", room, end: "active" as const, insecureFiles: false };
        const access = { ...atRelay, tokenFile: fields("active").token_file, fingerprints: [fingerprint] };
        const channels: readonly [Company, Channel][] = [
          [direct, { host, port: await to(Number(await party.port())) }],
          [relayed, { relay: { ...access, frameBytesMax: 2 << 20, proxy: null } }],
        ];
        const rates = await interleaved(channels, identity, bench.quick ? 3 : 5 * bench.repeats);
        const [straight, through] = rates.map(span);
        onFigure({
          name: `relay.${name}`,
          value: through.median / straight.median,
          ...(line === null ? {} : { bar: { atLeast: 0.9 } }),
          parts: { "direct.MBps": straight, "relay.MBps": through },
        });
      } finally {
        shaped?.close();
      }
    }
  } finally {
    await world.close();
    await rm(root, { recursive: true, force: true });
  }
}

/** @returns MB/s of each channel, in each round */
async function interleaved(
  channels: readonly [Company, Channel][],
  identity: TlsIdentity,
  rounds: number,
): Promise<number[][]> {
  const rates = channels.map((): number[] => []);
  const probers = await Promise.all(
    channels.map(async ([{ name, fingerprint }, channel]) => {
      const way = wayTo(name, () => Promise.resolve({ identity, pins: [fingerprint] }), channel);
      return new Prober(await way.open());
    }),
  );
  try {
    for (let round = -1; round < rounds; round++)
      for (const [i, prober] of probers.entries()) {
        const started = performance.now();
        await prober.probe({ sentBytes: bodyBytes }, timeoutMs);
        await prober.probe({ answerBytes: bodyBytes }, timeoutMs);
        // The first round warms up.
        if (round >= 0) rates[i].push((2 * bodyBytes) / 1000 / (performance.now() - started));
      }
  } finally {
    for (const prober of probers) prober.close();
  }
  return rates;
}
