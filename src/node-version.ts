/** Recognises a Node that is too old. Entries import this first, so that it must work on an older Node. */

/** Equal to `engines` in package.json; a test compares the two. */
const MIN_NODE_VERSION = [20, 19] as const;

/** Returns a sentence about a Node that is too old; null if it is not. `version`: as in `process.versions.node`. */
export function nodeVersionProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])) return null;
  return `needs Node ${MIN_NODE_VERSION.join('.')} or later; this is ${version}`;
}
