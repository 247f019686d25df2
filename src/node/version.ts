/** Reads the version of this package, which finds its own package.json by its name. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const version = (require('peer-trust-federation/package.json') as { readonly version: string }).version;
