/**
 * The oldest Node that runs this package. Entries import this file before anything else, so it uses nothing that an
 * older Node lacks.
 */

/** As `engines` in package.json says; a test holds the two together. */
const OLDEST = [20, 19] as const;

/** A sentence about a Node that is too old; null where it is not. `version`: as in `process.versions.node`. */
export function nodeVersionProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  return `needs Node ${OLDEST.join('.')} or later; this is ${version}`;
}
