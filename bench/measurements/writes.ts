/**
 * Compares durable events of several forms: one by one, in batches, with repeated timestamps and signed. Each is
 * answered when it is durable.
 */
import type { Kind } from '../load/drive.js';
import { batchKind, eventKind, repeatKind } from '../load/requests.js';
import { publicKeysOf, signedKind } from '../load/signed-requests.js';
import { startBareHttp } from '../peers/references.js';
import { measured } from '../run.js';
import { expectStored } from '../stored.js';

const eventsOfMatch = 100_000;
/** Most that a stream of repeated timestamps may cost, as a multiple of one without. */
const costMax = 1.3;

export const ingest = measured({
  name: 'ingest',
  summary: 'durable events one by one, beside bare node:http',
  players: 100_000,
  async measure(run) {
    const ways = await run.bothWays();
    const [fast, allKoa] = ways;
    const bareHttp = run.use(await startBareHttp());
    const load = run.load(eventKind(fast.site), 256);
    const what = `events at ${load.connections} connections`;
    const [bare, node] = await run.compare(what, [bareHttp, fast.target, allKoa.target], load);
    const ratio = run.rateRatio('durable events, node / bare node:http that stores nothing', node, bare);
    await run.compare('events at 1 connection', [fast.target, allKoa.target], { ...load, connections: 1, rate: null });
    for (const way of ways) await expectStored(way, run.report);
    const goal = 'durable POST at 256 connections against bare node:http that stores nothing';
    run.report.goal(goal, ratio, 'at least', 0.65, 'x', 0.6);
  },
});

export const batch = measured({
  name: 'batch',
  summary: 'durable events in batches of 500, beside single ones',
  players: 100_000,
  async measure(run) {
    const node = await run.node();
    const { target, site } = node;
    const ofBatches = run.load(batchKind(site), 8);
    const name = `batches of 500 at ${ofBatches.connections} connections`;
    const [single, batches] = await run.alternate('batch', [
      { ...run.load(eventKind(site), 256), connections: 256, name: 'events one by one at 256 connections', target },
      { ...ofBatches, name, target, itemUnit: 'events/s' },
    ]);
    await expectStored(node, run.report);
    const ratio = run.rateRatio('durable events/s, batches / one by one', batches, single, true);
    run.report.goal('batch of 500 events: durable events/s against single POSTs', ratio, 'at least', 5, 'x');
  },
});

export const repeats = measured({
  name: 'repeats',
  summary: 'durable events of which most repeat a timestamp of their player, beside others',
  players: 2_000,
  async measure(run) {
    const { target, site } = await run.node();
    const ofMatch = run.load(repeatKind(site, eventsOfMatch), 256);
    const [own, shared] = await run.alternate('events', [
      { ...run.load(eventKind(site), 256), name: 'events with timestamps of their own', target },
      { ...ofMatch, name: 'events with the timestamp of their match', target },
    ]);
    const ratio = run.rateRatio('durable events, timestamps of the match / of their own', shared, own);
    const goal = 'durable POST that repeats timestamps against one that does not';
    run.report.goal(goal, ratio, 'at least', 1 / costMax, 'x');
  },
});

export const signing = measured({
  name: 'signing',
  summary: 'durable events in signed requests, beside unsigned ones',
  players: 100_000,
  async measure(run) {
    const nodes = await run.twoNodes('unsigned', 'signed', { REQUEST_SIGNING: 'required' });
    const [unsigned, signed] = nodes;
    const { site } = signed;
    for (const { peerId, publicKey } of publicKeysOf(site)) {
      await signed.node.operate('peers', 'set-key', peerId, '--', publicKey);
    }
    const compare = (what: string, kind: Kind, connections: number) =>
      run.alternate(what, [
        { ...run.load(kind, connections), name: `${what}, unsigned`, target: unsigned.target },
        { ...run.load(signedKind(kind, site), connections), name: `${what}, signed`, target: signed.target },
      ]);
    const [plainEvents, signedEvents] = await compare('events', eventKind(site), 256);
    const [plainBatches, signedBatches] = await compare('batches of 500', batchKind(site), 8);
    for (const node of nodes) await expectStored(node, run.report);
    const ratio = run.rateRatio('durable events, signed / unsigned', signedEvents, plainEvents);
    run.rateRatio('durable batches, signed / unsigned', signedBatches, plainBatches);
    run.report.goal('signed POST at 256 connections against an unsigned one', ratio, 'at least', 0.7, 'x');
  },
});
