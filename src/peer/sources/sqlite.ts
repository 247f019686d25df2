/** Reads a table of a SQLite file as CSV, so that every description of a table fits it. The file is only read. */
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bounds } from '../../client/for-peer.js';
import { codeOf } from '../config/peer-file.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { fileBytes, tooLarge, unreachable } from './decode.js';

const mark = 'SQLite format 3\0';

/** A pipe or a folder is no SQLite file, and is not opened: its bytes can be read once. */
export async function isSqlite(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  const file = found?.isFile() === true ? await open(path).catch(() => null) : null;
  if (file === null) return false;
  const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0).finally(() => file.close());
  return buffer.toString('latin1') === mark;
}

/** Reads a copy, since whoever opens a database in place takes locks that the game server would wait for. */
export async function readTable(path: string, table: string): Promise<Buffer> {
  try {
    const before = await signatureOf(path);
    const bytes = await fileBytes(path);
    if ((await signatureOf(path)) !== before) throw unreachable(`${path} changed while it was read`);
    return await rowsOf(bytes, path, table);
  } catch (error) {
    if (error instanceof PeerError) throw error;
    throw unreachable(`${path} cannot be read: ${codeOf(error) ?? (error as Error).message}`);
  }
}

/** What changes with the file. Rejects while a journal holds changes that the file lacks. */
async function signatureOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  for (const part of ['-wal', '-journal']) {
    const journal = await stat(path + part).catch(() => null);
    if (journal !== null && journal.size > 0) {
      throw unreachable(
        `${path} has changes that only ${path}${part} holds; read it with a command instead: -- sqlite3 -csv -header`,
      );
    }
  }
  return `${ino} ${size} ${mtimeMs}`;
}

async function rowsOf(bytes: Buffer, path: string, table: string): Promise<Buffer> {
  if (bytes.toString('latin1', 0, mark.length) !== mark) throw wrongUsage(`${path} is not a SQLite file`);
  // The journal mode of the copy: the library cannot share memory, as write-ahead logging wants.
  bytes.fill(1, 18, 20);
  const folder = await mkdtemp(join(tmpdir(), 'ptf-peer-'));
  try {
    await writeFile(join(folder, 'copy'), bytes, { mode: 0o600 });
    const { default: sqlite } = await import('node-sqlite3-wasm');
    const database = new sqlite.Database(join(folder, 'copy'));
    try {
      // Only what is stored: a view, or a virtual table over one, may compute without end.
      const tables = namesOf(
        database.all(
          "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema' ORDER BY name",
        ),
      );
      if (!tables.includes(table)) throw wrongUsage(`--table must be one of ${path}: ${tables.join(', ')}`);
      // Lacks generated columns, whose cells are computed.
      const columns = namesOf(database.all('SELECT name FROM pragma_table_info(?)', [table]));
      const rows = database.prepare(`SELECT ${columns.map(quoted).join()} FROM ${quoted(table)}`);
      try {
        return csvOf(columns, rows.iterate(), path);
      } finally {
        rows.finalize();
      }
    } finally {
      database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function namesOf(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({ name }) => String(name));
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A damaged file may repeat its pages without end. */
function csvOf(columns: readonly string[], rows: Iterable<Record<string, unknown>>, path: string): Buffer {
  const lines = [Buffer.from(lineOf(columns))];
  let bytes = 0;
  for (const row of rows) {
    const line = Buffer.from(lineOf(columns.map((name) => row[name])));
    bytes += line.length;
    if (bytes > bounds.importFileBytes) throw tooLarge(path);
    lines.push(line);
  }
  return Buffer.concat(lines);
}

function lineOf(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    if (value === null || value === undefined) return '';
    return quoted(value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value));
  });
  return `${cells.join(',')}\n`;
}
