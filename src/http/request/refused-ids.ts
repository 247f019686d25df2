/** Counts ids and names that were refused for their characters: many of them indicate a peer that corrupts ids. */
import type { ErrorDetails } from '../../errors.js';
import type { IdName, RequestObserver } from '../deps.js';

const idNames: Readonly<Record<string, IdName>> = {
  player_id: 'player_id',
  id: 'player_id',
  ids: 'player_id',
  event_id: 'event_id',
  game_id: 'game_id',
  game_ids: 'game_id',
  peer_name: 'peer_name',
};

export function countRefusedIds(
  refusal: { readonly details?: ErrorDetails[keyof ErrorDetails] },
  metrics: Pick<RequestObserver, 'idRefused'>,
): void {
  const { details } = refusal;
  if (details === undefined || !('violation' in details)) return;
  const places =
    'parameter' in details
      ? [details.parameter]
      : [details, ...(details.more ?? [])]
          .filter(({ violation }) => violation === 'pattern')
          .map(({ field }) => field.split('/', 2)[1] ?? '');
  for (const place of places) {
    const name = Object.hasOwn(idNames, place) ? idNames[place] : undefined;
    if (name !== undefined) metrics.idRefused(name);
  }
}
