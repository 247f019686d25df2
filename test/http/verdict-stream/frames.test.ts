/** The text of each frame of the verdict stream, and the ids that a reader resumes from. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { FeedPosition, PublishedPlayer } from '../../../src/group/verdict-changes.js';
import * as frames from '../../../src/http/verdict-stream/frames.js';
import { limits } from '../../../src/limits.js';

const alone: FeedPosition = { seq: 7, asOf: 36, generation: '0123456789ab', position: 3 };
const shared: FeedPosition = { ...alone, logTag: 'ba9876543210' };
const id = '7-0123456789ab.3';
const asOf = '"as_of":"1970-01-01T00:00:00.036Z"';

test('an event id comes back as the position it was made of, in a cluster with its log and time', () => {
  const idOf = (mark: FeedPosition) => /^id: (.*)$/m.exec(frames.heartbeatFrame(mark))?.[1] ?? '';
  assert.equal([idOf(alone), idOf(shared)], [id, `${id}.ba9876543210.10`]);
  assert.equal(frames.placeOf(idOf(alone)), { ...alone, asOf: 0 });
  assert.equal(frames.placeOf(idOf(shared)), shared);
  for (const text of ['', 'x', `${id}.`, `${id}.ba9876543210`, `-${id}`, `${id}1234567890`, id.toUpperCase()]) {
    assert.is(frames.placeOf(text), undefined, text);
  }
});

test('only the frame that completes a position has its id', () => {
  const cases: readonly (readonly [frame: string, text: string])[] = [
    [frames.snapshotFrame('1,2', false, alone), `event: snapshot\ndata: {"players":[1,2],"last":false,${asOf}}\n\n`],
    [frames.snapshotFrame('', true, alone), `event: snapshot\nid: ${id}\ndata: {"players":[],"last":true,${asOf}}\n\n`],
    [frames.changeFrame('1', false, alone), `event: change\ndata: {"changes":[1],${asOf}}\n\n`],
    [frames.changeFrame('1', true, alone), `event: change\nid: ${id}\ndata: {"changes":[1],${asOf}}\n\n`],
    [frames.erasedFrame(['1', '2'], 36), `event: change\ndata: {"changes":[1,2],${asOf}}\n\n`],
    [frames.heartbeatFrame(alone), `event: heartbeat\nid: ${id}\ndata: {${asOf}}\n\n`],
    [frames.resetFrame('too_old'), 'event: reset\nid: \ndata: {"reason":"too_old"}\n\n'],
    [frames.resumeFrame('limit'), 'event: resume\ndata: {"reason":"limit","after_ms":1000}\n\n'],
    [frames.comment, ': still here\n\n'],
  ];
  for (const [frame, text] of cases) assert.is(frame, text);
  assert.match(frames.helloFrame({ version: 1 } as never), /^retry: 1000\nevent: hello\ndata: \{"version":1\}\n\n$/);
});

test('a row shows its marks only where they are true, and those of a peer only to that peer', () => {
  const player: PublishedPlayer = { subject: 'ab', score: 12.5, confidence: 0.5, verdict: 'neutral', allowed: false };
  const start = '{"subject_hash":"ab","score":12.5,"confidence":0.5,"verdict":"neutral"';
  const refused = [{ at: 0, peers: [2], reason: 'a "reason"' }];
  const rowFor = (peer: number | null, allowed = false) =>
    frames.playerRow({ ...player, allowed }, frames.marksFor(peer, [1], refused)).replace(start, '');
  assert.equal(
    [rowFor(null), rowFor(0), rowFor(1), rowFor(2), rowFor(1, true)],
    ['}', '}', ',"disputed":true}', ',"erasure_refused":"a \\"reason\\""}', ',"allowed":true,"disputed":true}'],
  );
  assert.equal(frames.marksFor(2, [], []), { disputed: false, erasureRefused: undefined });
});

test('a full frame exceeds its bytes by the words of refused erasures at most, and every client takes it', () => {
  const player = { subject: 'ab'.repeat(32), score: 12.34, confidence: 0.1234, verdict: 'suspicious', allowed: false };
  const bytesWith = (erasureRefused: string | undefined) => {
    const row = frames.playerRow(player as PublishedPlayer, { disputed: true, erasureRefused });
    const rows = Array(limits.streamFrameRows).fill(row).join(',');
    return Buffer.byteLength(frames.snapshotFrame(rows, true, shared));
  };
  const longest = bytesWith('😀'.repeat(limits.allowNoteLength));
  assert.ok(bytesWith(undefined) <= limits.streamFrameBytes);
  assert.ok(longest > limits.streamFrameBytes && longest <= bounds.streamFrameBytes, `${longest}`);
});

test.run();
