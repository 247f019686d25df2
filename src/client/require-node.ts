/**
 * Throws where the game server's Node is too old for the client. Imported first by every entry of the package. The
 * client imports `node:crypto` and `node:zlib` as namespaces, because a named import that an older Node lacks fails
 * before any code runs.
 */
import { nodeVersionFault } from '../node-version.js';

const fault = nodeVersionFault(process.versions.node);
if (fault !== null) throw Object.assign(new Error(`the peer trust client ${fault}`), { code: 'ERR_NODE_TOO_OLD' });
