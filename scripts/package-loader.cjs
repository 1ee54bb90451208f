/**
 * Loads a package for the chunks of dist/program/: from the bundle if exactly the versions that the bundle was made
 * from are installed, otherwise as installed.
 */
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const { groups, files } = JSON.parse(readFileSync(join(__dirname, "table.json"), "utf8"));

const areInstalled = new Map();

/** As Node resolves it; null: not found. */
function installedVersion(name) {
  for (const folder of module.paths)
    try {
      return JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8")).version;
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    }
  return null;
}

function isCurrent(group) {
  if (!areInstalled.has(group)) {
    const packages = Object.entries(groups[group]);
    areInstalled.set(
      group,
      packages.every(([name, version]) => installedVersion(name) === version),
    );
  }
  return areInstalled.get(group);
}

module.exports = (specifier) => {
  const { file, group } = files[specifier];
  return isCurrent(group) ? require(`./${file}`) : require(specifier);
};
