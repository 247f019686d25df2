/** Declares the row of an operation, a question or a change that an operator asks of a node (see `table.ts`). */
import { granted, type Outcome } from '../errors.js';
import type { OnProgress, OperatorApi } from '../group/api.js';
import { limits } from '../limits.js';
import { operatorPatterns, peerName } from '../validation/identifiers.js';
import type { FromSchema, Schema } from '../validation/schema.js';

export const exampleId = '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e';
export const exampleHash = '5f'.repeat(32);

export interface AskedNode {
  readonly group: OperatorApi;
  readonly version: string;
  /** Returns the 32 bytes of a player's subject hash; null if the group does not accept the entered id. */
  readonly pseudonymise: (playerId: string) => Uint8Array | null;
  /** Lets everybody try again to sign in to the dashboard of this node. */
  readonly unlockDashboard?: () => void;
}

export interface Asked extends AskedNode {
  readonly by: string;
  readonly onProgress: OnProgress;
}

type AnyShape = Schema & { readonly properties: Readonly<Record<string, Schema>> };

/** `R`: the request, whose type follows from its schema; `V`: the value of the answer. */
export interface Operation<R, V> {
  /** A request with `by` is a change, whose audit entry names the operator. One with `from` lists page by page. */
  readonly request: AnyShape;
  readonly dashboard?: true;
  /** The work grows with the store, and has no time limit. */
  readonly isSlow?: true;
  readonly answer: (request: R, asked: Asked) => Outcome<V> | Promise<Outcome<V>>;
  readonly ptf: readonly PtfCommand<R, V>[];
}

export const commandGroups = {
  peers: 'list, add and change the peers of the group; lists them if no command is given',
  pretrust: "manage the group's set of pre-trusted peers, 1 to 3 as a rule",
  group: 'show and change the settings that all nodes of a group share',
  origins: 'list and declare the sources that peers may pass on',
  disputes: 'list and decide the disputes of peers',
  subject: 'answer the request of a player for the data that the group holds',
  allow: "manage the group's allow list: players that read as neutral until a date",
  dashboard: 'set up the dashboard',
  audit: 'read and check the audit log',
  cluster: 'show and control the nodes of a group that several nodes serve',
} as const;

/** Reads what a question about a peer must say. Rejects if there is no such peer. */
export type PeerFacts = (peerId: string) => Promise<{
  readonly peer_id: string;
  readonly peer_name: string;
  readonly event_count: number;
  readonly signals: { readonly players: number } | null;
}>;

/** A command of `ptf` that sends one request, or one per page, and shows the value. */
export type PtfCommand<R, V> = {
  readonly group?: keyof typeof commandGroups;
  readonly command: string;
  /** Runs also if its group is given alone. */
  readonly isDefault?: boolean;
  readonly text: string;
  readonly examples: readonly string[];
  /** The question to ask at a terminal without `--yes`, with the facts that it needs. */
  readonly confirm?: (request: R, peer: PeerFacts) => string | Promise<string>;
  readonly problem?: (request: R) => string | undefined;
  /** For a list: what `--sort` may name, with the value of a row. Numbers are sorted from the greatest down. */
  readonly sorts?: Readonly<Record<string, (row: RowOf<V>) => number | string>>;
  readonly working?: string;
  /** Returns the lines for a terminal of `width` characters. `--json` prints the value itself. */
  readonly show: (value: V, width: number) => readonly string[];
} & (Record<never, never> extends Given<R> ? { readonly given?: Given<R> } : { readonly given: Given<R> });

export type RowOf<V> = V extends { readonly data: readonly (infer Row)[] } ? Row : never;

/** The arguments that give the members of a request. `ptf` adds `--by`, and asks for every page of a list. */
export type Given<R> = {
  readonly [M in keyof Omit<R, 'by' | 'from' | 'limit'>]: Argument<Exclude<R[M & keyof R], undefined>>;
};

export type Argument<T> = { readonly fixed: T } | TypedArgument<T>;

export interface TypedArgument<T> {
  /** `<id>`, `[id]`, or an option: `--idle <time>`. */
  readonly flags: string;
  readonly text: string;
  parse?(text: string, before?: T): T;
  readonly initial?: { readonly value: T; readonly text?: string };
  readonly choices?: readonly T[];
  /** An option that gives `value` in place of the argument. */
  readonly or?: { readonly flag: string; readonly text: string; readonly value: T; readonly problem: string };
}

export function operation<const S extends AnyShape, V extends object>(
  row: Omit<Operation<FromSchema<S>, V>, 'ptf'> & {
    readonly request: S;
    readonly ptf?: PtfCommand<FromSchema<S>, V> | readonly PtfCommand<FromSchema<S>, V>[];
  },
): Operation<FromSchema<S>, V> {
  const { ptf = [] } = row;
  return { ...row, ptf: 'command' in ptf ? [ptf] : ptf };
}

export function typed(flags: string, text = ''): TypedArgument<string> {
  return { flags, text };
}

export function parsed<T>(
  flags: string,
  text: string,
  more: Omit<TypedArgument<T>, 'flags' | 'text'> &
    (Required<Pick<TypedArgument<T>, 'parse'>> | Required<Pick<TypedArgument<T>, 'choices'>>),
): TypedArgument<T> {
  return { flags, text, ...more };
}

export function mapped<T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> {
  return outcome.ok ? granted(to(outcome.value)) : outcome;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export const count = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const;

const line = (maxLength: number) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: operatorPatterns.oneLine }) as const;

/** The operator's name for the audit log, else `operator`: fully visible, because people read it on terminals. */
export const by = { ...line(limits.peerNameLength), pattern: peerName.pattern } as const;
export const note = line(limits.allowNoteLength);
export const subjectHash = { type: 'string', pattern: operatorPatterns.subjectHash } as const;
/** A peer's id, its name, or the beginning of its id: `asksOf` puts the id in its place. */
export const peerId = {
  type: 'string',
  minLength: 1,
  maxLength: limits.peerNameLength,
  pattern: operatorPatterns.moreThanBlanks,
} as const;
export const disputeId = { ...peerId } as const;
/** Members of a request for a page from position `from` on. */
export const page = (fromMax: number) => ({ from: count(0, fromMax), limit: count(1, limits.pageMax) });
