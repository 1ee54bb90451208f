/** `tandem relay`: a server that parties dial which may only dial out. */
import { Command } from "commander";
import type { RelayConfig } from "../../party/config/relay-config.ts";
import { addExamples } from "../terminal/help-text.ts";
import { addMetricsOptions, listenMetrics, type MetricsFlags } from "./party-metrics.ts";

interface RelayFlags extends MetricsFlags {
  readonly config: string;
  readonly quiet?: boolean;
}

export function relayCommand(): Command {
  const command = new Command("relay")
    .description("join parties that may only dial out; sees sizes and times, and nothing of what they send")
    .requiredOption("-c, --config <file>", "the relay's config, as 'tandem init relay' writes it");
  addMetricsOptions(command).option("--quiet", "print warnings and errors only").action(runRelay);
  return addExamples(command, "tandem relay -c relay.yaml", "tandem relay -c relay.yaml --metrics-port 9464");
}

async function runRelay(flags: RelayFlags): Promise<void> {
  const [{ readRelayConfig }, { readRelayIdentity }, { RelayMetrics }, { relayLog }, { withPackages }] =
    await Promise.all([
      import("../../party/config/relay-config.ts"),
      import("../../party/relay-files/relay-identity.ts"),
      import("../../relay/relay-metrics.ts"),
      import("../../relay/relay-log.ts"),
      import("../../base/optional-package.ts"),
    ]);
  const config = await readRelayConfig(flags.config);
  const tls = await readRelayIdentity(config.tls);
  const write = (text: string): void => void process.stderr.write(text);
  const log = relayLog({
    level: flags.quiet === true && config.log.level !== "error" ? "warn" : config.log.level,
    terminal: process.stderr.isTTY === true,
    write,
    now: () => new Date(),
  });
  const metrics = new RelayMetrics();
  const served = await listenMetrics(
    flags,
    config.tls.insecure_key_file,
    () => metrics.text(),
    (text) => write(`${text}\n`),
  );
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  try {
    const { startRelay } = await withPackages(
      { feature: "tandem relay", packages: ["ws"] },
      () => import("../../relay/relay-server.ts"),
    );
    const relay = await startRelay({
      listen: config.listen,
      tls,
      rooms: config.rooms.map(({ name, active, passive }) => ({ name, tokens: { active, passive } })),
      limits: limitsOf(config.limits),
      onEvent: (event) => {
        metrics.see(event);
        log(event);
      },
    });
    metrics.watch(relay.rooms);
    await stopped;
    await relay.close();
  } finally {
    await served.close();
  }
}

function limitsOf(given: RelayConfig["limits"]) {
  return {
    connectionsPerEnd: given.connections_per_end,
    connectionsPerMinute: given.connections_per_minute,
    connections: given.connections,
    frameBytes: given.frame_kilobytes * 1024,
    waitingBytes: given.waiting_kilobytes * 1024,
    bytesPerSecond: given.megabytes_per_second * 1_000_000,
    absentMs: given.absent_seconds * 1000,
    pingMs: given.ping_seconds * 1000,
  };
}
