/** Properties of all accounts: one id per account whatever its spelling, and never one id for two accounts. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { normalizePlayerId } from '../../src/client/ids/normalize.js';
import { isCanonicalPlayerId, readPlayerId } from '../../src/player-ids/player-id.js';

interface Spelling {
  readonly text: string;
  readonly kind?: string;
  readonly server?: string;
}

interface Account {
  /** Differs where two accounts differ. */
  readonly key: string;
  readonly kind: string;
  readonly spellings: readonly Spelling[];
}

const steamBase = 76561197960265728n;

function mixedCase(text: string, mask: number): string {
  return Array.from(text, (char, index) => ((mask >> (index % 31)) & 1 ? char.toUpperCase() : char.toLowerCase())).join(
    '',
  );
}

function steamAccount(account: number): Account {
  const id64 = String(steamBase + BigInt(account));
  const hex = BigInt(id64).toString(16);
  const half = `${account & 1}:${Math.floor(account / 2)}`;
  const forms = [id64, `steam:${id64}`, `STEAM_0:${half}`, `STEAM_1:${half}`, `[U:1:${account}]`, `U:1:${account}`];
  const addresses = [
    `https://steamcommunity.com/profiles/${id64}`,
    `http://steamcommunity.com/profiles/${id64}/games?x`,
  ];
  const hexForms = [`steam:${hex}`, `steam:${hex.toUpperCase()}`];
  return {
    key: `steam ${account}`,
    kind: 'steam',
    spellings: [
      ...[...forms, ...addresses, ...hexForms].map((text) => ({ text })),
      { text: String(account), kind: 'steam' },
      { text: hex, kind: 'steam' },
      ...forms.map((text) => ({ text, kind: 'Steam' })),
    ],
  };
}

const steam = fc
  .oneof(
    fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    fc.constantFrom(1, 2, 3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1),
  )
  .map(steamAccount);

const minecraft = fc.tuple(fc.uuid({ version: 4 }), fc.nat()).map(([uuid, mask]): Account => {
  const plain = uuid.replaceAll('-', '');
  // Digits that look like a ProductUserId are told apart by their kind alone.
  const bare = plain.startsWith('0002') ? [] : [{ text: plain }, { text: mixedCase(plain, mask) }];
  return {
    key: `minecraft ${uuid}`,
    kind: 'minecraft',
    spellings: [
      ...bare,
      { text: uuid },
      { text: mixedCase(uuid, mask) },
      { text: plain, kind: 'minecraft' },
      { text: `minecraft:${plain}` },
    ],
  };
});

const offline = fc.tuple(fc.uuid({ version: 3 }), fc.constantFrom('survival', 'mc.example.net', 'a'), fc.nat()).map(
  ([uuid, server, mask]): Account => ({
    key: `offline ${server} ${uuid}`,
    kind: 'minecraft-offline',
    spellings: [
      { text: `minecraft-offline:${server}:${uuid}` },
      { text: mixedCase(`minecraft-offline:${server}:${uuid.replaceAll('-', '')}`, mask) },
      { text: uuid, server },
      { text: uuid, server, kind: 'minecraft' },
    ],
  }),
);

const xbox = fc
  .tuple(fc.bigInt({ min: 0x0009n << 48n, max: (0x000an << 48n) - 1n }), fc.nat())
  .map(([xuid, mask]): Account => {
    const hex = xuid.toString(16).padStart(16, '0');
    return {
      key: `xbox ${xuid}`,
      kind: 'xbox',
      spellings: [
        { text: String(xuid) },
        { text: `xbl:${xuid}` },
        { text: `XUID:${xuid}` },
        { text: mixedCase(hex, mask) },
        { text: `00000000-0000-0000-${hex.slice(0, 4)}-${hex.slice(4)}` },
        { text: hex, kind: 'xbox' },
      ],
    };
  });

const eos = fc
  .tuple(fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 28, maxLength: 28 }), fc.nat())
  .map(
    ([digits, mask]): Account => ({
      key: `eos ${digits}`,
      kind: 'eos',
      spellings: [
        { text: `0002${digits}` },
        { text: mixedCase(`0002${digits}`, mask) },
        { text: `EOS:0002${digits}` },
        { text: mixedCase(`0002${digits}`, mask), kind: 'eos' },
      ],
    }),
  );

const opaque = fc
  .tuple(
    fc.constantFrom('psn', 'epic', 'ea', 'live', 'ubisoft'),
    fc.string({ unit: fc.constantFrom(...'abcXYZ019_-.'), minLength: 1, maxLength: 40 }),
  )
  .filter(([kind, id]) => readPlayerId(`${kind}:${id}`).ok)
  .map(
    ([kind, id]): Account => ({
      key: `${kind} ${id}`,
      kind,
      spellings: [{ text: `${kind}:${id}` }, { text: `${kind.toUpperCase()}:${id}` }, { text: id, kind }],
    }),
  );

const account = fc.oneof(steam, minecraft, offline, xbox, eos, opaque);
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF:-_.[]U STEAM/#'), maxLength: 60 }),
  account.chain(({ spellings }) => fc.constantFrom(...spellings.map(({ text }) => text))),
);

const canonical = ({ text, kind, server }: Spelling): string => normalizePlayerId(text, { kind, server });

test('all spellings of one account give one id', () => {
  fc.assert(
    fc.property(account, ({ spellings, kind }) => {
      const ids = new Set(spellings.map(canonical));
      assert.is(ids.size, 1, JSON.stringify([...ids]));
      assert.ok(isCanonicalPlayerId([...ids][0]!, [kind]));
    }),
    { numRuns: 1_000 },
  );
});

test('two accounts never meet in one id', () => {
  const ids = new Map<string, string>();
  fc.assert(
    fc.property(account, ({ spellings, key }) => {
      for (const spelling of spellings) {
        const id = canonical(spelling);
        assert.is(ids.get(id) ?? key, key);
        ids.set(id, key);
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(ids.size > 500);
});

test('a Steam2 or Steam3 number beyond the account numbers is never an id', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 2n ** 32n, max: 10n ** 20n - 1n }), (number) => {
      for (const text of [`[U:1:${number}]`, `U:1:${number}`, `STEAM_0:0:${number}`, `STEAM_1:1:${number}`]) {
        assert.equal(readPlayerId(text), { ...readPlayerId(text), ok: false });
      }
    }),
  );
});

test('normalising twice changes nothing, with or without the kind', () => {
  fc.assert(
    fc.property(anyText, fc.constantFrom(undefined, 'steam', 'minecraft', 'xbox', 'eos', 'psn'), (text, kind) => {
      const once = readPlayerId(text, { kind });
      if (!once.ok) return;
      assert.equal(readPlayerId(once.id, { kind: once.kind }), once);
      if (kind === undefined) assert.equal(readPlayerId(once.id), once);
      if (kind === undefined) assert.equal(readPlayerId(once.id, { kinds: [once.kind] }), once);
    }),
    { numRuns: 4_000 },
  );
});

test('no text makes it throw anything but a refusal, whatever the hints', () => {
  const hints = fc.record({
    kind: fc.option(fc.oneof(fc.constantFrom('steam', 'minecraft', 'xbox', 'eos', 'hwid', 'ip'), fc.string()), {
      nil: undefined,
    }),
    kinds: fc.option(fc.array(fc.constantFrom('steam', 'minecraft', 'xbox', 'eos', 'psn')), { nil: undefined }),
    server: fc.option(fc.string(), { nil: undefined }),
  });
  fc.assert(
    fc.property(anyText, hints, (text, hint) => {
      const result = readPlayerId(text, hint);
      if (!result.ok) assert.match(result.reason, /^[a-z_]+$/);
      else assert.ok([...result.id].length <= 128);
    }),
    { numRuns: 4_000 },
  );
});

test('an id may have the greatest length, and a platform beside a name counts unless another is given', () => {
  const digits = (length: number) => '1'.repeat(length);
  const [steam, uuid] = ['76561197960287930', '069a79f4-44e9-4726-a5be-fca90e38aaf5'];
  for (const [text, hints, outcome] of [
    [`own:${'x'.repeat(124)}`, {}, `own:${'x'.repeat(124)}`],
    [`own:${'x'.repeat(125)}`, {}, 'too_long'],
    [`own:${'😀'.repeat(124)}`, {}, `own:${'😀'.repeat(124)}`],
    ['x'.repeat(512), {}, 'unknown_form'],
    ['x'.repeat(513), {}, 'too_long'],
    [` ${'x'.repeat(512)} `, {}, 'unknown_form'],
    ['STEAM_ID_STOP_IGNORING_RETVALS', {}, 'placeholder'],
    [`steam_${steam}`, {}, steam],
    [`${steam}@Steam`, {}, steam],
    [`steam_${digits(15)}`, {}, 'out_of_range'],
    [`steam_${digits(14)}`, {}, 'unknown_form'],
    [`steam_${steam}`, { kind: 'steam64' }, steam],
    [`steam_${steam}`, { kind: 'xbox' }, 'malformed'],
    ['psn_name', {}, 'psn:name'],
    ['psn_name', { kind: 'psn' }, 'psn:psn_name'],
    ['name@psn', { kind: 'epic' }, 'epic:name@psn'],
    ['100000000000000001@discord', { kind: 'discord' }, 'discord:100000000000000001'],
    ['Discord_100000000000000001', { kind: 'discord' }, 'discord:100000000000000001'],
    ['100000000000000001@discord', { kind: 'psn' }, 'psn:100000000000000001@discord'],
    [steam, { kind: 'psn' }, `psn:${steam}`],
    ['STEAM_0:0:11101', { kind: 'psn' }, 'other_kind'],
    ['own:1', { kind: 'psn' }, 'other_kind'],
    ['name', { kind: 'Not a kind' }, 'malformed'],
    [uuid, { kind: 'steam' }, 'other_kind'],
    [uuid, { kinds: ['steam'] }, 'kind_not_accepted'],
    [`minecraft:${uuid}`, { kind: 'uuid' }, uuid],
    ['ip:name', {}, 'address'],
    ['steam:203.0.113.7', {}, 'address'],
    ['12345', {}, 'kind_needed'],
  ] as const) {
    const found = readPlayerId(text, hints);
    assert.is(found.ok ? found.id : found.reason, outcome, `${text.slice(0, 40)} ${JSON.stringify(hints)}`);
  }
});

test.run();
