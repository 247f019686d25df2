/** The rules that every answer must satisfy, whatever the request; and the comparison of the answers of two nodes. */
import * as assert from 'uvu/assert';
import { type ErrorCode, errors } from '../../src/errors.js';
import { hold } from '../http/exchange.js';
import { type Conversation, isAligned, type Names, named } from './conversation.js';
import { givenId } from './requests.js';
import { answersOf, type RawAnswer } from './wire.js';

/**
 * Refused because a bound that the text names is reached, as by registrations that of `PEERS_MAX`; not because the node
 * has too much to do.
 */
function isOfFull({ status, body }: RawAnswer): boolean {
  return (
    status === 503 && body.includes('"code":"overloaded"') && !body.includes(`"error":"${errors.overloaded.text}"`)
  );
}

const methodsOf = (conversation: Conversation): string[] => conversation.requests.map(({ method }) => method);

/** The path that a request's target stands for, for the table of routes. */
const rowPath = (target: string): string => target.replace(/^https?:\/\/[^/?]+(?=\/)/, '');

/** Every answer is in the contract; throws where one is not. Answers them. */
export function judge(conversation: Conversation, names: Names, received: string): RawAnswer[] {
  const answers = answersOf(received, conversation.damages.length === 0 ? methodsOf(conversation) : []);
  for (const answer of answers) {
    if (answer.status >= 500 && !isOfFull(answer)) assert.unreachable(`${answer.status}: ${answer.body}`);
  }
  if (!isAligned(conversation)) {
    for (const answer of answers) judgeAlone(answer);
    return answers;
  }
  const { requests } = conversation;
  assert.ok(answers.length <= requests.length, `${answers.length} answers to ${requests.length} requests`);
  const last = answers.at(-1);
  if (answers.length < requests.length)
    assert.is(last?.headers.connection, 'close', 'a request went without an answer');
  for (const [place, { status, headers, body }] of answers.entries()) {
    const { method, target } = requests[place]!;
    // If the head is refused as a whole, its method and path mean nothing.
    const isMalformed = status === 400 && body.includes('"code":"invalid_parameter"');
    const isOfHead = isMalformed || status === 431 || status === 414 || status === 408;
    const path = isOfHead ? '/' : rowPath(named(target, names));
    hold(method, path, status, { ...headers }, Buffer.from(body, 'latin1').toString());
  }
  return answers;
}

/** An answer to what may be no request: an error of the table, or a success of whatever was asked. */
function judgeAlone({ status, headers, body }: RawAnswer): void {
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]{1,128}$/);
  assert.is(headers['x-content-type-options'], 'nosniff');
  // One to HEAD tells the length of what it leaves out.
  if (status < 400 || (body === '' && headers['content-length'] !== '0')) return;
  const { code }: { code: ErrorCode } = JSON.parse(Buffer.from(body, 'latin1').toString());
  assert.is(errors[code].status, status);
}

const uuid = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** Members whose value is chance, or stands for all that a node ever did. */
const ofItsOwn =
  /"(?:api_key|receipt|hash|prev_hash|next_cursor|originally_received_at|received_at|withdrawn_at|erased_at|registered_at|uptime_s|last_seq|weights_based_on_seq|based_on_seq|peer_count|player_count)":(?:"[^"]*"|[\d.]+|null)/g;

/** The details name the first sender of an id, which may differ if two conversations use one id. */
const firstOwner = /"code":"duplicate_event"[^}]*\}/g;

/** Lists of what all conversations did together: their length is chance. */
const isOfAll = /^\{"(?:group|data)":.*"(?:peer_name|prev_hash)"|^\{"data":\[\],"next_cursor"/s;

/** An answer without what two nodes cannot have in common, as text. */
export function comparable({ status, headers, body }: RawAnswer): string {
  // The last registration that a nearly full node accepts is random.
  const isRegistration = status === 201 && body.includes('"api_key"');
  if (isRegistration || isOfFull({ status, headers, body })) return 'registered, or full';
  const { date: _date, etag, 'x-request-id': id, 'content-length': length, ...fields } = headers;
  const text = isOfAll.test(body)
    ? 'a list'
    : body.replace(ofItsOwn, '').replace(firstOwner, 'a duplicate').replace(time, 'time').replace(uuid, 'uuid');
  const compared = {
    ...fields,
    etag: etag !== undefined,
    id: id === givenId ? id : 'made',
    length: length !== undefined,
  };
  return JSON.stringify([status, compared, text]);
}

/** The end of what never became a request, or of a body that broke off. */
function isBreakingOff(answer: string): boolean {
  return answer.startsWith('[400') && answer.includes('invalid_parameter') && answer.includes('"connection":"close"');
}

/**
 * True if two nodes answered a conversation alike, by the comparable texts of their answers. A request with a truncated
 * body may or may not have been answered before the truncation was seen, depending on the timing of its bytes.
 */
export function areAlike(conversation: Conversation, one: readonly string[], other: readonly string[]): boolean {
  if (isAligned(conversation)) return JSON.stringify(one) === JSON.stringify(other);
  const [short = [], long = []] = [one, other]
    .map((all) => (isBreakingOff(all.at(-1) ?? '') ? all.slice(0, -1) : all))
    .sort((a, b) => a.length - b.length);
  return long.length - short.length <= 1 && short.every((answer, place) => answer === long[place]);
}
