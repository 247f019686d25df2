/** A node that starts, fails and closes as a script says, for tests of its process. It logs what is done with it. */
import type { Config } from '../../src/node/config.js';
import type { NodePorts, RunningNode } from '../../src/node/node.js';
import { RejoinError, StartEndedError, StartRefusedError } from '../../src/node/startup.js';

const errors = {
  defect: () => new Error('a defect'),
  refused: () => new StartRefusedError('the port is in use'),
  rejoin: () => new RejoinError('the log is too old'),
  ended: () => new StartEndedError('the start was ended'),
};

export interface ScriptedStart {
  readonly start?: keyof typeof errors;
  /** The start waits until the node is stopped, and then rejects. */
  readonly waits?: keyof typeof errors;
  /** How the node fails once it runs. */
  readonly fails?: keyof typeof errors;
  /** How the node fails while it closes, or that it never closes. */
  readonly close?: keyof typeof errors | 'hangs';
  readonly abandon?: 'hangs';
}

const script = JSON.parse(process.env.TEST_SCRIPT ?? '[]') as ScriptedStart[];
const never = () => new Promise<never>(() => undefined);

export async function startNode(
  _config: Config,
  { log, onFatal, ending }: NodePorts,
): Promise<Pick<RunningNode, 'close' | 'abandon'>> {
  const { start, waits, fails, close, abandon } = script.shift()!;
  // Its ports keep a real node running.
  setInterval(() => undefined, 1_000_000);
  if (start !== undefined) throw errors[start]();
  log.info('started');
  if (waits !== undefined) {
    await new Promise((resolve) => ending!.addEventListener('abort', resolve));
    throw errors[waits]();
  }
  if (fails !== undefined) setImmediate(() => onFatal(errors[fails]()));
  return {
    async close() {
      log.info('closing');
      if (close === 'hangs') await never();
      else if (close === 'rejoin') onFatal(errors.rejoin());
      else if (close !== undefined) throw errors[close]();
    },
    async abandon() {
      log.info('abandoned');
      if (abandon === 'hangs') await never();
    },
  };
}

/** The process asks the operator's access for this text, which only a terminal shows. */
export const readyText = () => '';
