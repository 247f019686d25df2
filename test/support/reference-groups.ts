/** Small groups with every figure of weights and reads, as an independent implementation in numpy computed them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

type Figure =
  | ('I' | 'J' | 'lowers' | 'raises' | 'measures' | 'follows' | 'follows_claim')
  | ('witness' | 'tau' | 'A' | 'B' | 'M' | 'z' | 'finds' | 'finds_claim')
  | ('score' | 'confidence');

/** A group: its entries in no order, then every figure of weights (by peer) and of reads (by player). */
export interface ReferenceGroup extends Readonly<Record<Figure, readonly number[]>> {
  readonly name: string;
  readonly pretrusted: readonly number[];
  readonly players: number;
  readonly peers: number;
  readonly prevalence: number;
  readonly verdict: readonly string[];
}

/** Reads the groups from two levels above the folder in PTF_SHARED_DATA. Without them it says so and returns none. */
export function referenceGroups(): readonly ReferenceGroup[] {
  const dir = process.env.PTF_SHARED_DATA;
  const file = dir === undefined ? undefined : join(dir, '..', '..', 'reference', 'v3', 'golden.json.gz');
  if (file !== undefined && existsSync(file)) return JSON.parse(gunzipSync(readFileSync(file)).toString());
  process.stdout.write(
    'SKIPPED: PTF_SHARED_DATA names no data folder with a reference/v3/golden.json.gz two levels above\n',
  );
  return [];
}
