/** The operator learns why the leader does not answer; callers are only told that there is none. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkError } from '../../../src/cluster/link-client.js';
import { NodeLink, type NodeLinkDeps } from '../../../src/node/cluster/node-link.js';

const erase = { name: 'erase', args: { caller: null, subject: '' } } as const;

/** A follower whose leader answers while `answers` is true. */
function follower() {
  const state = { url: 'https://one.example', answers: false };
  const failures: string[] = [];
  const deps = {
    nodeId: 'two',
    member: {
      get leader() {
        return { nodeId: 'one', url: state.url };
      },
      forwarded: 0,
    },
    link: {
      call: async ({ url }: { url: string }) => {
        if (!state.answers) throw new LinkError(`${url}: wrong version number`, true);
        return { value: { ok: true, value: null }, seq: 1 };
      },
    },
    site: { reached: async () => true },
    onFailure: (what: string, error: unknown) => failures.push(`${what}: ${(error as Error).message}`),
  };
  return { link: new NodeLink(deps as unknown as NodeLinkDeps), state, failures };
}

test('a leader that does not answer is reported once, until it has answered again', async () => {
  const { link, state, failures } = follower();
  const fails = async (): Promise<void> => {
    const error = await link.ask(erase).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.instance(error, LinkError);
  };
  await fails();
  await fails();
  const first = 'a command to the leader: https://one.example: wrong version number';
  assert.equal(failures, [first]);
  state.answers = true;
  assert.ok(await link.ask(erase));
  state.answers = false;
  await fails();
  assert.equal(failures, [first, first]);
  state.url = 'https://another.example';
  await fails();
  assert.is(failures.length, 3);
});

test.run();
