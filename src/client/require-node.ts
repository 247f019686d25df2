/**
 * Throws if the game server's Node is too old for the client. Every entry of the package imports this file first. The
 * client imports `node:crypto` and `node:zlib` as namespaces, because a named import that an older Node lacks fails
 * before any code runs.
 */
import { nodeVersionProblem } from '../node-version.js';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== null) throw Object.assign(new Error(`the peer trust client ${problem}`), { code: 'ERR_NODE_TOO_OLD' });
