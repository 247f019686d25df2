/** Finds variables that the node does not read but that were probably meant for it. Never shows a value. */
import { distance } from 'fastest-levenshtein';
import { type Remark, variables } from './variables.js';

/** Prefixes of the project's variables that are rare elsewhere. */
const ownPrefix =
  /^(?:CLUSTER|DASHBOARD|ERASURE|GROUP|HALF_LIFE|METRICS|PEERS?|PRE_TRUSTED|PTF|RATE_LIMIT|REGISTRATION|RETENTION|SNAPSHOT|WEIGHTS)_/i;

/** Variables of the project's tests and benches, which start nodes with their own environment. */
const notOfNodes = ['PTF_SHARED_DATA'];

/** Kubernetes and Docker set such variables for services beside the node, such as `dashboard`. */
const serviceLink = /_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** Shorter names are similar to too many others. */
const LENGTH_MIN = 6;
/** Number of insertions, deletions and replacements up to which two names are similar; swapped letters count as two. */
const DISTANCE_MAX = 2;

const known: readonly string[] = Object.values(variables).flatMap(({ name, formerName, secret }) => [
  name,
  ...(formerName === undefined ? [] : [formerName]),
  ...(secret === true ? [`${name}_FILE`] : []),
]);

export function unknownVariables(names: readonly string[]): Remark[] {
  return names
    .filter((name) => !known.includes(name) && !notOfNodes.includes(name) && !serviceLink.test(name))
    .sort()
    .flatMap((name) => {
      const likely = closestTo(name.toUpperCase());
      if (likely !== null) return [{ variable: name, text: `is not read by the node; did you mean ${likely}?` }];
      if (!ownPrefix.test(name)) return [];
      return [{ variable: name, text: 'is not read by the node; docs/CONFIGURATION.md lists all variables that are' }];
    });
}

/** Returns the most similar known name; a fixed suffix such as `_FILE` after a known name counts as similar, too. */
function closestTo(name: string): string | null {
  if (name.length < LENGTH_MIN) return null;
  const [closest] = known
    .map((one) => ({ one, far: name === `${one}_FILE` ? 0 : distance(name, one) }))
    .sort((p, q) => p.far - q.far);
  return closest !== undefined && closest.far <= DISTANCE_MAX ? closest.one : null;
}
