/**
 * The facts of a lock file about the packages that a release runs or is built with, compared with the review: install
 * scripts, licences, engines, digests. Vulnerabilities are the task of `npm audit`.
 */

/** Packages that run a script when they are installed, and why they may. */
const installScripts = {
  lmdb: 'picks its prebuilt binary, or compiles the store where there is none',
  'msgpackr-extract': 'picks its prebuilt binary; optional, brought by lmdb',
  protobufjs: 'compares the version that its parent asks for, and prints a warning; brought by @grpc/proto-loader',
  '@scarf/scarf': 'would report the installation; brought by swagger-ui-dist, switched off by `scarfSettings`',
};

const licences = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'Python-2.0',
  '0BSD',
  'Unlicense',
];

/** True if a range such as `>=18`, `^18 || >= 20.1` or `18 || 20` admits Node `major.minor`. */
export function admits(range, [major, minor]) {
  return range.split('||').some((part) => {
    const found = /^\s*(>=|\^|~|>)?\s*v?(\d+|\*|x)(?:\.(\d+|x|\*))?/.exec(part);
    if (found === null) return false;
    const [, operator = '', wantedMajor, wantedMinor] = found;
    if (!/^\d+$/.test(wantedMajor)) return true;
    const least = [Number(wantedMajor), /^\d+$/.test(wantedMinor ?? '') ? Number(wantedMinor) : 0];
    if (major === least[0]) return minor >= least[1];
    return operator.startsWith('>') && major > least[0];
  });
}

/** A licence expression: every `AND`, and one of each `OR`, must be known. */
function isKnownLicence(expression) {
  return expression
    .replace(/[()]/g, '')
    .split(' AND ')
    .every((part) => part.split(' OR ').some((one) => licences.includes(one.trim())));
}

/** Names with their versions; an override may hold further ones, for the dependencies of one package alone. */
function versionsIn(group) {
  return Object.entries(group).flatMap(([name, version]) =>
    typeof version === 'object' && version !== null ? versionsIn(version) : [[name, version]],
  );
}

/**
 * The faults of a manifest and its lock, one sentence each; empty where there are none.
 * @param node the oldest Node that must run it, as `[major, minor]`.
 */
export function dependencyFaults(manifest, lock, node) {
  const faults = [];
  for (const group of ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides']) {
    for (const [name, version] of versionsIn(manifest[group] ?? {})) {
      if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(String(version))) faults.push(`${name} ${version} is no exact version`);
    }
  }
  if (manifest.scarfSettings?.enabled !== false) faults.push('scarfSettings.enabled is not false');
  for (const [path, one] of Object.entries(lock.packages)) {
    if (path === '') continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (one.hasInstallScript && !Object.hasOwn(installScripts, name)) faults.push(`${name} runs a script at install`);
    if (!isKnownLicence(one.license ?? '')) faults.push(`${name} has the licence ${one.license ?? 'of nobody'}`);
    // A package of another platform is optional, and the lock of this one need not have its digest.
    if (one.integrity === undefined && !(one.optional && one.os)) faults.push(`${name} has no digest`);
    const range = one.engines?.node;
    if (!one.dev && range !== undefined && !admits(range, node)) faults.push(`${name} asks for Node ${range}`);
  }
  return faults;
}
