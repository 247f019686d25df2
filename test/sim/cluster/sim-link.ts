/**
 * The link of a simulated node to the other nodes, on virtual time: connections that fail, requests and answers that
 * are late or lost, and connections that break while commands wait for their answers.
 */
import { Readable } from 'node:stream';
import { type LinkCall, type LinkClient, LinkError } from '../../../src/cluster/link-client.js';
import { limits } from '../../../src/limits.js';
import type { NodeLink } from '../../../src/node/cluster/node-link.js';
import { eachLine } from '../../../src/text-lines.js';
import type { Random } from '../../support/random.js';
import type { VirtualTime } from '../../support/virtual-time.js';
import type { NodeProcess } from './node-process.js';

/** How the network between the nodes treats requests, and each line of their answers. */
export interface NodeNetwork {
  /** The part of the requests that get no connection. */
  unconnected: number;
  /** The parts of requests and lines at which the connection breaks, that are lost in silence, and that are late. */
  broken: number;
  silent: number;
  late: number;
}

export interface LinkEnd {
  readonly process: NodeProcess;
  readonly nodeLink: Pick<NodeLink, 'answer'>;
}

export interface SimLinkDeps {
  readonly process: NodeProcess;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: NodeNetwork;
  /** Returns the node with this URL: null if it does not run, undefined while nothing passes to it or from it. */
  readonly find: (url: string) => LinkEnd | null | undefined;
  readonly count: (fault: string) => void;
}

export class SimLink implements Pick<LinkClient, 'call' | 'lines' | 'isClosed'> {
  isClosed = false;
  readonly #deps: SimLinkDeps;

  constructor(deps: SimLinkDeps) {
    this.#deps = deps;
  }

  async call<T>(call: LinkCall): Promise<T> {
    const lines: string[] = [];
    await this.lines(call, (line) => lines.push(line));
    return JSON.parse(lines[0]!) as T;
  }

  lines({ url, method, path, body, timeoutMs, signal }: LinkCall, use: (line: string) => void): Promise<void> {
    const { process, time, random, find } = this.#deps;
    let [isSent, isOver, passes, arrivesAt] = [false, false, true, 0];
    let endWatch: () => void = () => undefined;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        if (isOver) return;
        isOver = true;
        endWait();
        endWatch();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const fail = (why: string) => end(() => reject(new LinkError(`${url}: ${why}`, !isSent)));
      const onAbort = () => fail('the call was aborted');
      const endWait = process.later(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
      signal?.addEventListener('abort', onAbort);
      if (this.isClosed || signal?.aborted === true) return onAbort();

      // A connection keeps the order of what it carries, and carries nothing more once it has failed.
      const carry = (to: NodeProcess, arrive: () => void): void => {
        if (!passes) return;
        const isBroken = this.#happens('broken');
        passes = !isBroken && !this.#happens('silent') && find(url) !== undefined;
        if (!passes && !isBroken) return;
        arrivesAt = Math.max(arrivesAt, time.elapsed() + this.#travelMs());
        time.later(() => {
          if (isBroken || to.isDead) process.later(() => fail('the connection broke'), 1);
          else to.later(arrive, 0);
        }, arrivesAt - time.elapsed());
      };
      const answer = async (node: LinkEnd): Promise<void> => {
        const back = (arrive: () => void): void => {
          if (!node.process.isDead) carry(process, arrive);
        };
        const { pathname, searchParams: query } = new URL(path, 'http://link');
        const bytes = Buffer.from(typeof body === 'object' ? JSON.stringify(body) : (body ?? ''));
        const request = { method, path: pathname, query, body: bytes, sent: Promise.resolve() };
        const send = (line: string) => back(() => !isOver && use(line));
        try {
          const given = await node.nodeLink.answer(request);
          if (given instanceof Readable) await eachLine(given.setEncoding('utf8'), send);
          else send(JSON.stringify(given));
          back(() => end(resolve));
        } catch (error) {
          back(() => end(() => reject(new LinkError(`${path}: ${error}`, false))));
        }
      };
      process.later(() => {
        const node = find(url);
        if (isOver) return;
        if (node === null) return fail('the connection was refused');
        if (node === undefined || this.#happens('unconnected'))
          return void process.later(() => fail('no connection'), limits.linkConnectMs);
        isSent = true;
        // The system of a process that dies closes its connections, unless the machine has failed as well.
        const isPowerLost = random.below(3) === 0;
        if (!isPowerLost) endWatch = node.process.onDeath(() => process.later(() => fail('the connection broke'), 2));
        carry(node.process, () => void answer(node));
      }, this.#travelMs());
    });
  }

  #travelMs(): number {
    return 1 + this.#deps.random.below(this.#happens('late') ? 3_000 : 3);
  }

  #happens(what: keyof NodeNetwork): boolean {
    const { network, random, count } = this.#deps;
    if (network[what] === 0 || random.next() >= network[what]) return false;
    count(`${what} on the link`);
    return true;
  }
}
