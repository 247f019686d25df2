/** Knows where a ban list lives. Each read returns the whole list or rejects, so that half a list is never seen. */
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { basename, extname, resolve } from 'node:path';
import { abortable, bounds } from '../../client/for-peer.js';
import { readSmallFile } from '../config/peer-file.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { collected, fileBytes, unreachable } from './decode.js';
import { isSqlite, readTable } from './sqlite.js';

export interface Source {
  /** For people; contains no secret. */
  readonly label: string;
  /** Digest of everything that tells the source from others, for the name of a watch's state. */
  readonly key: string;
  /** The name by which a format may be recognised: that of the file or the table. */
  readonly name: string;
  /** True if the list is a file that is read in place while other programs write it. */
  readonly isPlainFile: boolean;
  /** Resolves with the whole list. Rejects with `source_unreachable` or `wrong_usage`. */
  read(signal: AbortSignal): Promise<Buffer>;
}

export interface SourceOptions {
  readonly table?: string | undefined;
  /** A file with a line `Name: value` for each header of a request. */
  readonly headerFile?: string | undefined;
  /** Standard input, if `-` may name it. */
  readonly input?: (AsyncIterable<Uint8Array> & { destroy(): void }) | undefined;
}

/** Returns the source that the arguments of a command name; `isCommand` if they follow `--`. */
export async function sourceOf(
  [first = '', ...rest]: readonly string[],
  isCommand: boolean,
  { table = '', headerFile, input }: SourceOptions,
): Promise<Source> {
  if (first === '') throw wrongUsage('name a file, - for standard input, an https address, or a command after --');
  const unnamed = { name: '', isPlainFile: false };
  if (isCommand) {
    const read = (signal: AbortSignal) => outputOf(first, rest, signal);
    return { ...unnamed, label: first, key: keyOf('command', first, ...rest), read };
  }
  if (rest.length > 0) throw wrongUsage('name one list; a command stands after --');
  if (first === '-' && input !== undefined) {
    const read = (signal: AbortSignal) =>
      abortable(collected(input), signal).catch((error: unknown) => {
        // A read that goes on would keep the process.
        input.destroy();
        throw signal.aborted ? unreachable('standard input was cut off') : error;
      });
    return { ...unnamed, label: 'standard input', key: keyOf('standard input'), read };
  }
  if (/^https?:\/\//i.test(first)) return addressSource(first, headerFile);
  if (table !== '' || (await isSqlite(first))) {
    const key = keyOf('table', resolve(first), table);
    return { ...unnamed, label: `${first} ${table}`, key, name: table, read: () => readTable(first, table) };
  }
  const key = hash('sha256', resolve(first), 'hex');
  const name = basename(first, extname(first));
  return { label: first, key, name, isPlainFile: true, read: () => fileBytes(first) };
}

function keyOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

async function outputOf(command: string, args: readonly string[], signal: AbortSignal): Promise<Buffer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(bounds.sourceMs)]);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], signal: limit });
  const ended = new Promise<string | null>((done) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      // A process that the command has started may hold the output for longer.
      child.stdout.destroy();
      done(`failed: ${error.code ?? error.name}`);
    });
    child.once('close', (code, by) => done(code === 0 ? null : `ended with ${code ?? by}`));
  });
  try {
    const bytes = await collected(child.stdout);
    const fault = await ended;
    if (fault !== null) throw unreachable(`${command} ${fault}`);
    return bytes;
  } catch (error) {
    child.kill();
    throw error instanceof PeerError ? error : unreachable(`${command} ${(await ended) ?? 'was cut off'}`);
  }
}

async function addressSource(address: string, headerFile: string | undefined): Promise<Source> {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username + url.password !== '') {
    throw wrongUsage('the address of a list must be https://HOST/PATH; user and password go into a --header-file');
  }
  const isLocal = /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) throw wrongUsage('the address of a list must begin with https://');
  const label = `${url.host}${url.pathname}`;
  const headers = headerFile === undefined ? {} : headersIn(await readSmallFile(headerFile), headerFile);
  // The last answer, for conditional requests.
  let last: { readonly etag: string | null; readonly modified: string | null; readonly bytes: Buffer } | null = null;
  const read = async (signal: AbortSignal): Promise<Buffer> => {
    const conditions = {
      ...(last?.etag ? { 'if-none-match': last.etag } : {}),
      ...(last?.modified ? { 'if-modified-since': last.modified } : {}),
    };
    try {
      const response = await fetch(url, {
        headers: { ...headers, ...conditions },
        // Headers of the file are for this address alone.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(bounds.sourceMs)]),
      });
      if (response.status === 304 && last !== null) return last.bytes;
      if (response.status !== 200 || response.body === null) {
        await response.body?.cancel();
        throw unreachable(`${label} answers with status ${response.status}`);
      }
      const bytes = await collected(response.body);
      last = { etag: response.headers.get('etag'), modified: response.headers.get('last-modified'), bytes };
      return bytes;
    } catch (error) {
      if (error instanceof PeerError) throw error;
      throw unreachable(`${label} cannot be read: the connection failed or was cut off`);
    }
  };
  const name = basename(url.pathname, extname(url.pathname));
  return { label, key: keyOf('address', url.href), name, isPlainFile: false, read };
}

function headersIn(text: string | undefined, file: string): Record<string, string> {
  if (text === undefined) throw wrongUsage(`there is no ${file}`);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const headers = lines.map((line) => {
    const [, name, value] = /^([\w-]+):[\t ]*([!-~\x80-\xff][\t -~\x80-\xff]*)$/.exec(line.trimEnd()) ?? [];
    if (name === undefined) throw wrongUsage(`each line of ${file} must be "Name: value", in letters of Latin-1`);
    return [name, value!];
  });
  return Object.fromEntries(headers);
}
