/** The bounds of failed sign-ins, by address and in total. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../../src/limits.js';
import { SignInAttempts } from '../../../../src/operator/dashboard/sessions/sign-in.js';

const { signInFailuresPerAddress: perAddress, signInFailuresTotal: total, signInWindowS } = limits;

/** Begins attempts from addresses, and returns how many of them were allowed. */
async function allowed(attempts: SignInAttempts, addresses: readonly string[]): Promise<number> {
  const waits = await Promise.all(addresses.map((address) => attempts.begin(address)));
  for (const wait of waits) assert.ok(wait === undefined || (wait >= 1 && wait <= signInWindowS), String(wait));
  return waits.filter((wait) => wait === undefined).length;
}

const times = (count: number, address: (i: number) => string) => Array.from({ length: count }, (_, i) => address(i));

test('an address has a number of attempts, which a success and an unlock give back', async () => {
  const attempts = new SignInAttempts();
  const tried = () =>
    allowed(
      attempts,
      times(perAddress + 1, () => 'one'),
    );
  assert.is(await tried(), perAddress);
  assert.is(await allowed(attempts, ['one']), 0);
  assert.is(await allowed(attempts, ['another']), 1);
  await attempts.succeeded('one');
  assert.is(await tried(), perAddress);
  attempts.unlock();
  assert.is(await tried(), perAddress);
});

test('all addresses together have a number of attempts, of which a success gives one back', async () => {
  const attempts = new SignInAttempts();
  assert.is(
    await allowed(
      attempts,
      times(total, (i) => `address ${i}`),
    ),
    total,
  );
  await attempts.succeeded('address 0');
  assert.is(await allowed(attempts, ['new', 'newer']), 1);
  attempts.unlock();
  assert.is(await allowed(attempts, ['newest']), 1);
});

test.run();
