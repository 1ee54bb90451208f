/**
 * Performs the steps of deploy/Dockerfile without a container engine: in root file systems made by debootstrap, with
 * chroot. Then runs the result as the image's user with a read-only root, and asks its health check. Needs Linux, root
 * rights, debootstrap and the network; takes minutes.
 *
 *   node scripts/try-image.mjs [--base <folder that debootstrap has made>]
 *
 * This machine's Node stands in for the one of the base image. Prints the size of the result, and exits with 1 at the
 * first thing that does not work.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { base: given } = parseArgs({ options: { base: { type: "string" } } }).values;
const work = mkdtempSync(join(tmpdir(), "tandem-image-"));
const run = (command, ...options) => execFileSync(command, options, { stdio: ["ignore", "inherit", "inherit"] });

/** Instructions of a Dockerfile: those that deploy/Dockerfile uses, one per line. */
function instructionsIn(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => /^(\w+)\s+(.*)$/.exec(line).slice(1));
}

function baseFolder() {
  if (given !== undefined) return given;
  const folder = join(work, "base");
  run("debootstrap", "--variant=minbase", "bookworm", folder);
  return folder;
}

/** Node and npm of this machine, where the base image has them. */
function addNode(folder) {
  const local = join(folder, "usr", "local");
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  mkdirSync(join(local, "bin"), { recursive: true });
  cpSync(realpathSync(process.execPath), join(local, "bin", "node"));
  run("cp", "-a", join(prefix, "lib", "node_modules"), join(local, "lib"));
  run("cp", "-a", join(prefix, "include", "node"), join(local, "include"));
  run("ln", "-sf", "../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin", "npm"));
  cpSync("/etc/resolv.conf", join(folder, "etc", "resolv.conf"));
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined) cpSync(authorities, join(folder, "etc", "authorities.pem"), { dereference: true });
}

class Stage {
  constructor(folder) {
    this.folder = folder;
    this.workdir = "/";
    this.user = "0:0";
    this.env = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", HOME: "/tmp", npm_config_cache: "/tmp/npm" };
    if (existsSync(join(folder, "etc", "authorities.pem"))) this.env.NODE_EXTRA_CA_CERTS = "/etc/authorities.pem";
  }

  /** The arguments of `chroot` for a command of this stage. */
  chrooted(command) {
    const env = Object.entries(this.env).map(([name, value]) => `${name}=${value}`);
    return [
      `--userspec=${this.user}`,
      this.folder,
      "env",
      "-i",
      ...env,
      "sh",
      "-c",
      `cd ${this.workdir} && ${command}`,
    ];
  }
}

function addContext(target) {
  const ignored = ["--exclude=.git", "--exclude=node_modules", "--exclude=dist", "--exclude=build"];
  mkdirSync(target, { recursive: true });
  run(
    "sh",
    "-c",
    `tar -C '${root}' ${ignored.map((each) => `'${each}'`).join(" ")} -cf - . | tar -C '${target}' -xf -`,
  );
}

/** @returns the last stage, with its entry point and health check */
function built() {
  const base = baseFolder();
  const stages = new Map();
  let stage;
  const perform = {
    ARG: () => {},
    FROM(rest) {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? "final";
      const folder = join(work, name);
      run("cp", "-a", base, folder);
      addNode(folder);
      stage = new Stage(folder);
      stages.set(name, stage);
    },
    RUN: (command) => run("unshare", ...inNamespace([procOf(stage)], stage.chrooted(command))),
    WORKDIR(path) {
      stage.workdir = path;
      mkdirSync(join(stage.folder, path), { recursive: true });
    },
    COPY(rest) {
      const [, from, source, target] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest);
      const to = join(stage.folder, target === "." ? stage.workdir : target);
      if (source === ".") return addContext(to);
      mkdirSync(dirname(to), { recursive: true });
      run("cp", "-a", from === undefined ? join(root, source) : join(stages.get(from).folder, source), to);
    },
    ENV(rest) {
      for (const [, name, value] of rest.matchAll(/(\w+)=(\S+)/g))
        stage.env[name] = value.replace("$PATH", stage.env["PATH"]);
    },
    USER: (user) => (stage.user = user),
    HEALTHCHECK: (rest) => (stage.health = JSON.parse(rest.slice(rest.indexOf("[")))),
    ENTRYPOINT: (rest) => (stage.entrypoint = JSON.parse(rest)),
    CMD: (rest) => (stage.command = JSON.parse(rest)),
  };
  for (const [name, rest] of instructionsIn(readFileSync(join(root, "deploy", "Dockerfile"), "utf8"))) {
    console.log(`${name} ${rest}`);
    perform[name](rest);
  }
  return stage;
}

const procOf = ({ folder }) => `mount -t proc proc '${folder}/proc'`;

/** The arguments of `unshare` for a chroot with mounts of its own, which end with it. */
function inNamespace(mounts, chrooted) {
  const quoted = chrooted.map((each) => `'${each.replaceAll("'", String.raw`'\''`)}'`);
  return ["--mount", "--fork", "--pid", "sh", "-ec", `${mounts.join("; ")}; exec chroot ${quoted.join(" ")}`];
}

/** The root is read-only, /data and /tmp are not. */
function confined(stage, command) {
  const { folder } = stage;
  const mounts = [
    `mount --bind '${folder}' '${folder}'`,
    `mount -o remount,bind,ro '${folder}'`,
    `mount -t tmpfs tmpfs '${folder}/tmp'`,
    `mount -t tmpfs -o uid=1000,gid=1000,mode=700 tmpfs '${folder}/data'`,
    procOf(stage),
  ];
  return inNamespace(mounts, stage.chrooted(command));
}

const party = `
set -e
tandem init passive --name retailer --host 127.0.0.1 --port 7443 --out /data/party > /dev/null
cd /data/party
sed -i "s/PASTE-THE-ACTIVE-PARTYS-FINGERPRINT/$(printf '7%.0s' $(seq 64))/" passive.yaml
printf 'id,visits\\na,1\\nb,2\\n' > data.csv
HEALTH && exit 9
tandem party -c passive.yaml --metrics-port 9464 & party=$!
for i in $(seq 60); do sleep 1; HEALTH 2> /dev/null && break; done
HEALTH
kill $party; wait $party
touch /opt/tandem/written 2> /dev/null && exit 8
id -u | grep -qx 1000
`;

function tried(stage) {
  const entry = stage.entrypoint.join(" ");
  const health = stage.health.join(" ");
  const script = party.replaceAll("HEALTH", health).replaceAll("tandem init", `${entry} init`);
  const commands = [
    `${entry} ${stage.command.join(" ")} > /dev/null`,
    `${entry} demo --rows 300 --num-round 1`,
    script,
  ];
  for (const command of commands) run("unshare", ...confined(stage, command));
}

try {
  const stage = built();
  tried(stage);
  const sizeOf = (folder) => Number(execFileSync("du", ["-sk", folder], { encoding: "utf8" }).split("\t")[0]);
  const added = sizeOf(join(stage.folder, "opt", "tandem"));
  console.log(`the image works; its own layer has ${Math.round(added / 1024)} MB`);
} finally {
  if (existsSync(work)) rmSync(work, { recursive: true, force: true });
}
