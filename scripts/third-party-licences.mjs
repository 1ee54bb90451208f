/** The licences of the packages whose code is in a bundle: they must travel with it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @returns {string | null} the package that a module belongs to, without the "@" of a scope; null for one of ours */
export function packageOf(id) {
  return folderOf(id)?.name.replace("@", "") ?? null;
}

function folderOf(id) {
  const match = /^(?<folder>.*[/\\]node_modules[/\\](?<name>(?:@[^/\\]+[/\\])?[^/\\]+))[/\\]/.exec(id);
  return match === null ? null : { folder: match.groups.folder, name: match.groups.name.replace("\\", "/") };
}

/**
 * @param {string[]} moduleIds paths of modules
 * @returns {string} name, version, licence and its text, package by package
 */
export function thirdPartyLicences(moduleIds) {
  const found = moduleIds.map(folderOf).filter((place) => place !== null);
  const folders = new Map(found.map(({ name, folder }) => [name, folder]));
  const parts = [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, folder]) => licenceOf(folder));
  return `${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:licen[cs]e|notice)/i.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), "utf8").trim());
  return [`${name} ${version}: ${license}`, ...texts].join("\n\n");
}
