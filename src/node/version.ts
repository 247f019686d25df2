/** Reads the version from package.json, which the package finds by its own name wherever it was built. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const version = (require('peer-trust-federation/package.json') as { readonly version: string }).version;
