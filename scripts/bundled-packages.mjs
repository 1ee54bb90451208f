/**
 * The packages whose code a bundle holds: their licences must travel with it, and the SBOM names them, because no `npm
 * audit` at a user's machine can see them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** @returns {string | null} the package that a module belongs to, or null for a module of our own */
export function packageOf(id) {
  return folderOf(id)?.name ?? null;
}

function folderOf(id) {
  const match = /^(?<folder>.*[/\\]node_modules[/\\](?<name>(?:@[^/\\]+[/\\])?[^/\\]+))[/\\]/.exec(id);
  return match === null ? null : { folder: match.groups.folder, name: match.groups.name.replace("\\", "/") };
}

/**
 * @param {string[]} moduleIds paths of modules
 * @returns {{ folder: string, name: string, version: string, license: string }[]} in the order of their names
 */
export function bundledPackages(moduleIds) {
  const folders = new Set(moduleIds.map((id) => folderOf(id)?.folder).filter((folder) => folder !== undefined));
  // npm may have installed one version in two folders.
  const packages = new Map();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    packages.set(`${name} ${version}`, { folder, name, version, license });
  }
  // Compared by code units: the same order on every machine.
  return [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** @returns {string} name, version, licence and its text, package by package */
export function licenceTexts(packages) {
  const parts = packages.map(({ folder, name, version, license }) => {
    const texts = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(?:licen[cs]e|notice)/i.test(entry.name))
      .map((entry) => readFileSync(join(folder, entry.name), "utf8").trim());
    return [`${name} ${version}: ${license}`, ...texts].join("\n\n");
  });
  return `${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/**
 * A CycloneDX 1.6 bill of materials. It has no date and no serial number: the same sources give the same bytes.
 * @param {string} root the folder of package.json and package-lock.json
 * @returns {object} one component per bundled package
 */
export function billOfMaterials(root, packages) {
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const components = packages.map((each) => {
    const { integrity } = lock.packages[relative(root, each.folder).split(sep).join("/")];
    return { ...componentOf("library", each), hashes: [hashOf(integrity)] };
  });
  const application = componentOf("application", own);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: application },
    components,
    dependencies: [
      { ref: application["bom-ref"], dependsOn: components.map((component) => component["bom-ref"]) },
      ...components.map((component) => ({ ref: component["bom-ref"] })),
    ],
  };
}

function componentOf(type, { name, version, license }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [group, short] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const names = group === undefined ? { name: short } : { group, name: short };
  return { type, "bom-ref": purl, ...names, version, licenses: [{ expression: license }], purl };
}

/** npm's integrity, "sha512-" and Base64, in CycloneDX's form. */
function hashOf(integrity) {
  const [, digest] = /^sha512-(\S+)/.exec(integrity) ?? [];
  if (digest === undefined) throw new Error(`package-lock.json: '${integrity}' is not a SHA-512 digest`);
  return { alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") };
}
