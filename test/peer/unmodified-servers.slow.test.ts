/**
 * Servers that nobody can change, beside a sidecar: a stub of each does what the game's server does with an answer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld, SidecarProcess } from './peer-world.js';

const bad = '76561197960419731';
const good = '76561202255225799';
const late = '76561202255225801';

let node: TestNode;
let peer: TestPeer;

test.before.each(async () => {
  node = await startTestNode();
  peer = (await node.seed({ bad: [bad], good: [good] }))[0]!;
});
test.after.each(() => node.close());
test.after(endChildren);

async function answering(): Promise<{ readonly sidecar: SidecarProcess; readonly base: string }> {
  const world = new PeerWorld();
  world.writeConfig({ url: node.url, ...peer, groupSalt: node.groupSalt });
  const args = ['--act-on', 'untrusted', '--min-confidence', '0.3'];
  const sidecar = await new SidecarProcess(world, args).listening();
  await until(async () => (await sidecar.call('/v1/status')).body.stream.phase === 'live');
  const secret = readFileSync(join(world.stateDir, 'sidecar', 'answers-secret'), 'utf8').trim();
  return { sidecar, base: `${sidecar.url}/answers/${secret}` };
}

const allowing = (id: string) => ({ player_id: id, until: new Date(Date.now() + 60_000).toISOString() });

/** A Rust server: it asks `server.bansServerEndpoint` about each player who joins. */
class RustServer {
  readonly #endpoint: string;
  /** `server.bansServerFailureMode`: 0 admits players while the endpoint fails, 1 refuses them. */
  readonly #failureMode: 0 | 1;

  constructor(endpoint: string, failureMode: 0 | 1 = 0) {
    this.#endpoint = endpoint.endsWith('/') ? endpoint : `${endpoint}/`;
    this.#failureMode = failureMode;
  }

  /** Resolves to the reason of the refusal; null if the player may join. */
  async join(steamId: string): Promise<string | null> {
    const answer = await fetch(this.#endpoint + steamId).catch(() => null);
    if (answer?.status === 404) return null;
    if (answer?.ok !== true) return this.#failureMode === 0 ? null : 'the ban endpoint failed';
    const ban = (await answer.json()) as { steamId: string; reason: string; expiryDate: number };
    assert.is(typeof ban.steamId, 'string', 'a number would lose digits');
    assert.ok(Number.isInteger(ban.expiryDate), 'seconds since 1970');
    if (ban.expiryDate > 0 && ban.expiryDate <= Date.now() / 1_000) return null;
    return ban.steamId === steamId ? ban.reason : 'the endpoint named another player';
  }
}

/** A Squad server: it loads each address of RemoteBanListHosts.cfg, and a ban is `id:end //comment`. */
class SquadServer {
  readonly #hosts: string;
  #bans = new Map<string, number>();

  constructor(hosts: string) {
    this.#hosts = hosts;
  }

  /** Loads the lists anew, as at the begin of a round; a list that cannot be loaded keeps its bans. */
  async newRound(): Promise<void> {
    const answers = await Promise.all(this.#hosts.split('\n').map((address) => fetch(address).catch(() => null)));
    if (answers.some((answer) => answer?.ok !== true)) return;
    const lines = (await Promise.all(answers.map((answer) => answer!.text()))).join('').split('\n');
    const bans = lines.map((line) => /^(\d{17}|[0-9a-f]{32}):(\d+)(?:\s*\/\/.*)?$/.exec(line));
    assert.is(bans.filter((ban) => ban === null).length, 1, 'nothing but bans, and the end of the last line');
    this.#bans = new Map(bans.flatMap((ban) => (ban === null ? [] : [[ban[1]!, Number(ban[2])]])));
  }

  admits(id: string): boolean {
    const end = this.#bans.get(id);
    return end === undefined || (end !== 0 && end <= Date.now() / 1_000);
  }
}

test('a Rust server refuses those whom the group does not trust, within a stream frame, and admits all others', async () => {
  const { sidecar, base } = await answering();
  const rust = new RustServer(`${base}/rust`);
  assert.match(String(await rust.join(bad)), 'untrusted');
  assert.equal([await rust.join(good), await rust.join(late)], [null, null]);
  await node.seed({ bad: [late] });
  await until(async () => (await rust.join(late)) !== null);
  await sidecar.call('/v1/allow', 'POST', allowing(bad));
  assert.is(await rust.join(bad), null);
  await sidecar.kill('SIGTERM');
  assert.is(await rust.join(late), null, 'the server admits players while nobody answers');
  assert.is(await new RustServer(`${base}/rust/`, 1).join(good), 'the ban endpoint failed');
});

test('a Squad server refuses untrusted players who were seen here, from the next round on', async () => {
  const { sidecar, base } = await answering();
  const squad = new SquadServer(`${base}/squad`);
  await squad.newRound();
  assert.ok(squad.admits(bad), 'the list names nobody whom this server never saw');
  for (const id of [bad, good]) await sidecar.call(`/v1/players/${id}`);
  await squad.newRound();
  assert.equal([squad.admits(bad), squad.admits(good)], [false, true]);
  await sidecar.call('/v1/allow', 'POST', allowing(bad));
  await squad.newRound();
  assert.ok(squad.admits(bad));
  await sidecar.kill('SIGTERM');
});

test.run();
