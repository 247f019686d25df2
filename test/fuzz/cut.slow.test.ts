/** A few requests, sent in two pieces: wherever the cut is, they are answered as if they had come whole. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Conversation, FuzzRequest } from './conversation.js';
import { textOf } from './conversation.js';
import { comparable } from './judge.js';
import { FuzzNode } from './nodes.js';
import { answersOf, converse } from './wire.js';

function request(more: Partial<FuzzRequest>): FuzzRequest {
  const fields = [
    ['Host', 'x'],
    ['X-Peer-API-Key', '~key0~'],
  ] as const;
  return { method: 'GET', target: '/', version: '1.1', fields, body: null, chunkBytes: null, ...more };
}

/** An event of severity 0 counts for nothing, so that no answer depends on when weights are computed. */
const event =
  '{"schema_version":"1.0.0","event_id":"~event0~","event_type":"commendation","peer_id":"~peer0~","player_id":"~player0~","game_id":"arena","severity":0,"timestamp":"2026-01-01T00:00:00Z"}';
const json = [
  ['Host', 'x'],
  ['Content-Type', 'application/json'],
  ['X-Peer-API-Key', '~key0~'],
] as const;

const cut: Conversation['requests'] = [
  request({ method: 'POST', target: '/api/v1/events', fields: json, body: event }),
  request({
    method: 'POST',
    target: '/api/v1/events/batch',
    fields: json,
    body: `{"events":[${event}]}`,
    chunkBytes: 9,
  }),
  request({ target: '/api/v1/players/~player0~/trust-score' }),
  request({ target: '/api/v1/trust-scores?ids=~player0~,~player1~' }),
];

test('requests split in two at any byte are answered like unsplit ones', async () => {
  for (const lane of ['true', 'false']) {
    const node = new FuzzNode(`FAST_PATH=${lane}`, { FAST_PATH: lane });
    await node.start();
    let whole: readonly string[] | undefined;
    const compareAt = async (at: number): Promise<void> => {
      const names = node.names(String(at).padStart(9, '0'));
      const bytes = Buffer.from(cut.map((one) => textOf(one, names)).join(''), 'latin1');
      if (at >= bytes.length) return;
      const answers = answersOf(await converse(node.port, [bytes.subarray(0, at), bytes.subarray(at)]), []);
      const texts = answers.map((one) => comparable(one).replaceAll(/(?:player|event)-\d+-/g, ''));
      whole ??= texts;
      assert.equal(texts, whole, `cut at byte ${at}`);
    };
    try {
      await compareAt(0);
      assert.is(whole?.length, cut.length);
      const bytesMax = cut.map((one) => textOf(one, node.names('000000000'))).join('').length;
      for (let at = 1; at < bytesMax; at += 8)
        await Promise.all(Array.from({ length: 8 }, (_, i) => compareAt(at + i)));
      assert.equal(node.complaints, []);
    } finally {
      await node.stop();
    }
  }
});

test.run();
