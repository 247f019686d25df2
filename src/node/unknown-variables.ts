/**
 * Finds variables of the environment that the node does not read but that somebody probably meant for it. Never shows a
 * value.
 */
import { distance } from 'fastest-levenshtein';
import { type Remark, variables } from './variables.js';

/** Prefixes under which the project names its variables and hardly anybody else does. */
const prefixes = [
  'CLUSTER_',
  'DASHBOARD_',
  'ERASURE_',
  'GROUP_',
  'HALF_LIFE_',
  'METRICS_',
  'PEER_',
  'PEERS_',
  'PRE_TRUSTED_',
  'PTF_',
  'RATE_LIMIT_',
  'REGISTRATION_',
  'RETENTION_',
  'SNAPSHOT_',
  'WEIGHTS_',
];

/** Variables of the project's tests and benches, which start nodes in their own environment. */
const notOfNodes = ['PTF_SHARED_DATA'];

/**
 * Kubernetes and Docker make such variables for each service beside the node, which may be called `dashboard` or
 * `metrics`.
 */
const serviceLink = /_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** A shorter name is close to too many others. */
const LENGTH_MIN = 6;
/** Insertions, deletions and replacements up to which two names are close; two letters that changed places are two. */
const DISTANCE_MAX = 2;

const known: readonly string[] = Object.values(variables).flatMap(({ name, secret }) =>
  secret === true ? [name, `${name}_FILE`] : [name],
);

/**
 * One remark for each set variable whose name is close to a known one, or begins with a prefix of the project, in the
 * order of the names.
 */
export function unknownVariables(names: readonly string[]): Remark[] {
  return names
    .filter((name) => !known.includes(name) && !notOfNodes.includes(name) && !serviceLink.test(name))
    .sort()
    .flatMap((name) => {
      const likely = closestTo(name.toUpperCase());
      if (likely !== null) return [{ variable: name, text: `is not read by the node; did you mean ${likely}?` }];
      if (!prefixes.some((prefix) => name.toUpperCase().startsWith(prefix))) return [];
      return [{ variable: name, text: 'is not read by the node; the README lists all variables that are' }];
    });
}

/**
 * The known name that is closest, and close; a fixed suffix such as `_FILE` behind a known name counts as close, too.
 */
function closestTo(name: string): string | null {
  if (name.length < LENGTH_MIN) return null;
  const [closest] = known
    .map((one) => ({ one, far: name === `${one}_FILE` ? 0 : distance(name, one) }))
    .sort((p, q) => p.far - q.far);
  return closest !== undefined && closest.far <= DISTANCE_MAX ? closest.one : null;
}
