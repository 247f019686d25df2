/** Explains which ids a group accepts instead of raw ones. */
import { refusalOfRawIds } from '../../core/hashing/pseudonym.js';
import { type Refusal, refused } from '../../errors.js';
import type { GroupIdentity } from '../../group/api.js';
import { canonicalForm } from '../../player-ids/kinds.js';

/** Returns the refusal of an id without a pseudonym. The text never contains the id. */
export function rawIdRefusal({ identityMode, playerIdKinds = [] }: GroupIdentity): Refusal {
  const code = refusalOfRawIds(identityMode);
  if (code === 'subject_hash_required') return refused(code);
  const forms = playerIdKinds.map((kind) => ({ kind, form: canonicalForm(kind) }));
  return refused(code, {
    text: `player_id must be a subject hash or canonical for one of the group's kinds; ${forms.map(({ kind, form }) => `${kind}: ${form}`).join('; ')}`,
    details: { canonical_forms: forms },
  });
}
