/** `tandem init crew`: writes the files that a party needs to have workers. */
import { TandemError } from "../../base/error.ts";
import type { CrewFacts } from "../../party/crew-files/crew-names.ts";
import { portNumber } from "../whole-number.ts";

export interface InitCrewFlags {
  readonly party?: string;
  readonly name?: string;
  readonly host?: string;
  readonly port?: string;
  readonly out: string;
}

const enginePort = "4222";

export async function runInitCrew({ party, name, host, port = enginePort, out }: InitCrewFlags): Promise<void> {
  if (party === undefined)
    throw new TandemError(
      "USAGE",
      "--party is missing. Give the party's config: tandem init crew --party passive.yaml --out crew",
    );
  const hosts = (host ?? "localhost").split(",").map((one) => one.trim());
  const wrong = hosts.find((one) => !/^[0-9A-Za-z][0-9A-Za-z.-]*$/.test(one));
  if (wrong !== undefined)
    throw new TandemError("USAGE", `--host must be names or addresses, separated by commas; got '${wrong}'`);
  const { initCrew } = await import("../../party/crew-files/init-crew.ts");
  const made = await initCrew({ party, name, hosts, port: portNumber("--port", port), directory: out });
  process.stdout.write(nextSteps(made, party, out));
}

function nextSteps({ crew, isActive }: CrewFacts, party: string, out: string): string {
  return [
    `Wrote the files of crew ${crew} to ${out}. All are readable by you alone.`,
    "",
    "  the engine needs    nats.conf ca.pem server.pem server.key, and never crew.key",
    "  each worker needs   worker.yaml ca.pem worker.pem worker.key crew.key" +
      (isActive ? "" : ", and the folder blocks/ as it is here"),
    "  the party needs     ca.pem party.pem party.key crew.key, and these lines in its config:",
    `                      cat ${out}/crew.yaml >> ${party}`,
    "",
    `Next, on one machine: (cd ${out} && nats-server -c nats.conf), and in other terminals`,
    `tandem worker -c ${out}/worker.yaml   and   tandem ${isActive ? "train" : "party"} -c ${party}`,
    "",
  ].join("\n");
}
