/** One rule for secrets, held to the same vectors on both sides of the wire. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { secretText, subjectHash } from '../../../src/client/ids/subject.js';
import { TrustClient } from '../../../src/client/trust-client.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { loadConfig } from '../../../src/node/config.js';

const salt = '0123456789abcdef';

/** The reading of each text; null means that it is refused. */
const vectors: readonly (readonly [what: string, text: string, secret: string | null])[] = [
  ['as it is', salt, salt],
  ['with one line feed', `${salt}\n`, salt],
  ['with one carriage return and line feed', `${salt}\r\n`, salt],
  ['with blanks inside', `${salt} ${salt}`, `${salt} ${salt}`],
  ['with two line feeds', `${salt}\n\n`, null],
  ['with a carriage return alone', `${salt}\r`, null],
  ['with a blank before it', ` ${salt}`, null],
  ['with a blank behind it', `${salt} `, null],
  ['with a tab before its line feed', `${salt}\t\n`, null],
  ['with a line feed before it', `\n${salt}`, null],
  ['with a byte order mark', `\uFEFF${salt}`, null],
];

function onTheNode(text: string): string | null {
  const outcome = loadConfig({ GROUP_SALT_FILE: '/salt' }, () => text);
  return outcome.ok ? outcome.config.salt : null;
}

function inTheClient(text: string): string | null {
  try {
    return secretText('groupSalt', text);
  } catch (error) {
    assert.instance(error, TrustError);
    assert.not.ok((error as TrustError).message.includes(salt), 'the error holds the secret');
    return null;
  }
}

for (const [what, text, secret] of vectors) {
  test(`the node and the client read a secret ${what} alike`, () => {
    assert.is(onTheNode(text), secret);
    assert.is(inTheClient(text), secret);
  });
}

test('a salt that ends in a line break gives the hashes of the salt without it', () => {
  assert.is(subjectHash('player', `${salt}\n`), subjectHash('player', salt));
  assert.throws(
    () => subjectHash('player', `${salt} `),
    (error: TrustError) => error.code === 'invalid_argument',
  );
});

test('the salt and the key of a client are read by this rule', async () => {
  await new TrustClient({ url: 'http://node', groupSalt: `${salt}\n`, apiKey: 'key\n' }).close();
  for (const options of [{ groupSalt: ` ${salt}` }, { apiKey: 'key ' }]) {
    assert.throws(
      () => new TrustClient({ url: 'http://node', ...options }),
      (error: TrustError) => error.code === 'invalid_argument',
    );
  }
});

test('a secret given as bytes of its file is refused with the advice to read it as text', () => {
  const bytes = Buffer.from(salt) as unknown as string;
  for (const take of [
    () => new TrustClient({ url: 'http://node', groupSalt: bytes }),
    () => new TrustClient({ url: 'http://node', apiKey: bytes }),
    () => subjectHash('player', bytes),
  ]) {
    assert.throws(
      take,
      (error: TrustError) => error.code === 'invalid_argument' && /must be a string/.test(error.message),
    );
  }
});

test.run();
