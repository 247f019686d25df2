#!/usr/bin/env node
// The `ptf-peer` that npm links. It stands in the repository, since npm remembers a command that was not there when it
// first looked.
import { existsSync } from 'node:fs';

const entry = new URL('../dist/ptf-peer.js', import.meta.url);
if (!existsSync(entry)) {
  console.error('ptf-peer: not built yet; run `npm run build` first');
  process.exit(1);
}
// Before the rest is loaded, which an older Node cannot do.
await import(new URL('../dist/require-node.js', import.meta.url).href);
await import(entry.href).catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error(`ptf-peer: ${error.message}; run \`npm ci\` first`);
  process.exit(1);
});
