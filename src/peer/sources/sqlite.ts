/** Reads a table of a SQLite file as CSV, so that every description of a table fits it. The file is only read. */
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../config/peer-file.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { fileBytes } from './decode.js';

const mark = 'SQLite format 3\0';

export async function isSqlite(path: string): Promise<boolean> {
  const file = await open(path).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0);
    return buffer.toString('latin1') === mark;
  } finally {
    await file.close();
  }
}

/** Reads a copy, since whoever opens a database in place takes locks that the game server would wait for. */
export async function readTable(path: string, table: string): Promise<Buffer> {
  try {
    const before = await signatureOf(path);
    const bytes = await fileBytes(path);
    if ((await signatureOf(path)) !== before) throw unreadable(`${path} changed while it was read`);
    return await rowsOf(bytes, path, table);
  } catch (error) {
    if (error instanceof PeerError) throw error;
    throw unreadable(`${path} cannot be read: ${codeOf(error) ?? (error as Error).message}`);
  }
}

/** What changes with the file. Rejects while a journal holds changes that the file lacks. */
async function signatureOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  for (const part of ['-wal', '-journal']) {
    const journal = await stat(path + part).catch(() => null);
    if (journal !== null && journal.size > 0) {
      throw unreadable(
        `${path} has changes that only ${path}${part} holds; read it with a command instead: -- sqlite3 -csv -header`,
      );
    }
  }
  return `${ino} ${size} ${mtimeMs}`;
}

function unreadable(text: string): PeerError {
  return new PeerError('source_unreachable', text, 3);
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
      const tables = database
        .all("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        .map(({ name }) => String(name));
      if (!tables.includes(table)) throw wrongUsage(`--table must be one of ${path}: ${tables.join(', ')}`);
      const rows = database.all(`SELECT * FROM "${table.replaceAll('"', '""')}"`);
      const columns = database.all(`SELECT name FROM pragma_table_info(?)`, [table]).map(({ name }) => String(name));
      return Buffer.from([columns, ...rows.map((row) => columns.map((name) => row[name]))].map(lineOf).join(''));
    } finally {
      database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function lineOf(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    if (value === null || value === undefined) return '';
    const text = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
    return `"${text.replaceAll('"', '""')}"`;
  });
  return `${cells.join(',')}\n`;
}
