/**
 * Entry of a process that races for data folders, by messages from its parent: it acquires a folder, appends to its
 * log, reads it and leaves it as a process does that dies, time and again.
 */
import { OwnerLostError } from '../../src/group/ports/storage.js';
import { acquireHere, type Owner, type RacerAnswer, type RacerCall } from './racers.js';

let owner: Owner | null = null;

// Or where a starter that opened the log hid its newest commit: such an owner must end as well.
const isFenced = (error: unknown): boolean =>
  error instanceof OwnerLostError || /hid the newest commit|a commit failed/.test(String(error));

async function answer([name, ...args]: RacerCall): Promise<unknown> {
  switch (name) {
    case 'acquire':
      owner = await acquireHere(String(args[0]), isFenced);
      return owner?.epoch ?? null;
    case 'write':
      return owner!.write(Number(args[0]), Number(args[1]));
    case 'seqsFrom':
      return owner!.seqsFrom(Number(args[0]));
    case 'leave':
      return owner!.leave();
  }
}

process.on('message', (call: RacerCall) => {
  answer(call).then(
    (value = null) => process.send?.({ value } satisfies RacerAnswer),
    (error: Error) => process.send?.({ failed: error.message } satisfies RacerAnswer),
  );
});
