/**
 * The oldest Node that runs this package. Entries import this file before anything else, so that it must not use
 * anything that an older Node lacks.
 */

/** Equal to `engines` in package.json; a test compares the two. */
const OLDEST = [20, 19] as const;

/** Returns a sentence about a Node that is too old; null if it is not. `version`: as in `process.versions.node`. */
export function nodeVersionProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  return `needs Node ${OLDEST.join('.')} or later; this is ${version}`;
}
