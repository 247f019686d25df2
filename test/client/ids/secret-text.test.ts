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
    assert.equal([onTheNode(text), inTheClient(text)], [secret, secret]);
  });
}

test('the salt and the key of a client and the salt of a hash are read by this rule, and never as bytes', async () => {
  const url = 'http://node';
  await new TrustClient({ url, groupSalt: `${salt}\n`, apiKey: 'key\n' }).close();
  assert.is(subjectHash('player', `${salt}\n`), subjectHash('player', salt));
  const bytes = Buffer.from(salt) as unknown as string;
  for (const [wrong, text] of [
    [`${salt} `, /must not/],
    [bytes, /must be a string/],
  ] as const) {
    for (const take of [
      () => new TrustClient({ url, groupSalt: wrong }),
      () => new TrustClient({ url, apiKey: wrong }),
      () => subjectHash('player', wrong),
    ]) {
      assert.throws(take, (error: TrustError) => error.code === 'invalid_argument' && text.test(error.message));
    }
  }
});

test.run();
