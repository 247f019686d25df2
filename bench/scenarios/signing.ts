/** Compares durable events in signed requests (RFC 9421) with unsigned ones, one by one and in batches. */

import { batchKind, eventKind, only } from '../load/requests.js';
import { publicKeysOf, signedKind } from '../load/signed-requests.js';
import { copyOf, filledNode, startNode } from '../node-target.js';
import { measured } from '../run.js';
import { expectStored } from '../stored.js';
import type { Measured } from '../windows.js';

export const signing = measured({
  name: 'signing',
  summary: 'durable events in signed requests, beside unsigned ones',
  players: 100_000,
  async measure(run) {
    const filled = await filledNode({ ...run.options, snapshotAfter: 1 });
    const copied = copyOf(filled, { REQUEST_SIGNING: 'required' });
    const unsigned = await startNode('unsigned', filled);
    run.use(unsigned.target);
    const signed = await startNode('signed', copied);
    run.use(signed.target);
    const { site } = signed;
    for (const { peerId, publicKey } of publicKeysOf(site)) {
      await signed.node.operate('peers', 'set-key', peerId, '--', publicKey);
    }
    const { rate } = run.options;
    const series = (what: string, connections: number, kind: Parameters<typeof only>[0]) => {
      const load = { connections: run.options.connections ?? connections, rate };
      return [
        { ...load, name: `${what}, unsigned`, target: unsigned.target, workload: only(kind) },
        { ...load, name: `${what}, signed`, target: signed.target, workload: only(signedKind(kind, site)) },
      ];
    };
    const events = await run.alternate('events', series('events', 256, eventKind(site)));
    const batches = await run.alternate('batches of 500', series('batches of 500', 8, batchKind(site)));
    for (const node of [unsigned, signed]) await expectStored(node, run.report);
    const ratioOf = (figure: string, [plain, ours]: readonly Measured[]) => run.rateRatio(figure, ours!, plain!);
    const ratio = ratioOf('durable events, signed / unsigned', events);
    ratioOf('durable batches, signed / unsigned', batches);
    run.report.goal('signed POST at 256 connections against an unsigned one', ratio, 'at least', 0.7, 'x');
  },
});
