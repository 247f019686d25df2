/** Player ids against the published vectors, through the client's function. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { normalizePlayerId } from '../../src/client/ids/normalize.js';
import { TrustError } from '../../src/client/trust-error.js';
import { playerIdRefusals } from '../../src/player-ids/id-refusals.js';
import { type NormalizeOptions, readPlayerId } from '../../src/player-ids/player-id.js';

interface Hinted extends NormalizeOptions {
  readonly id: string;
}

interface Vectors {
  readonly vectors: readonly (Hinted & { readonly player_id: string; readonly player_id_kind: string })[];
  readonly refused: readonly (Hinted & { readonly reason: string })[];
}

const file = new URL('../../../docs/player-id-vectors.json', import.meta.url);
const { vectors, refused } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

function named({ id, kind, kinds, server }: Hinted): string {
  return JSON.stringify([id, kind, kinds, server].filter((part) => part !== undefined));
}

for (const vector of vectors) {
  const { id, kind, kinds, server, player_id, player_id_kind } = vector;
  test(`the canonical id of ${named(vector)} is that of the vector`, () => {
    assert.is(normalizePlayerId(id, { kind, kinds, server }), player_id);
    assert.equal(readPlayerId(id, { kind, kinds, server }), { ok: true, id: player_id, kind: player_id_kind });
    assert.is(normalizePlayerId(player_id), player_id);
    assert.is(normalizePlayerId(player_id, { kinds: [player_id_kind] }), player_id);
    assert.is(normalizePlayerId(player_id, { kind: player_id_kind }), player_id);
  });
}

for (const vector of refused) {
  const { id, kind, kinds, server, reason } = vector;
  test(`${named(vector).slice(0, 70)} is refused: ${reason}`, () => {
    try {
      normalizePlayerId(id, { kind, kinds, server });
    } catch (error) {
      assert.instance(error, TrustError);
      const { code, details, message } = error as TrustError;
      assert.equal([code, details], ['invalid_argument', { reason }]);
      const trimmed = id.trim();
      if (trimmed.length > 3) assert.not(message.includes(trimmed));
      return;
    }
    assert.unreachable('it was taken for an id');
  });
}

test('each reason has a vector', () => {
  assert.equal([...new Set(refused.map(({ reason }) => reason))].sort(), Object.keys(playerIdRefusals).sort());
});

test.run();
