/** Reads a table of a SQLite file as CSV, so that every description of a table fits it. The file is only read. */
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PeerError, wrongUsage } from '../peer-error.js';
import { fileBytes } from './file-bytes.js';

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

/**
 * Returns the rows of the table. Reads a copy in a folder of its own, since a program that opens a database in place
 * takes locks that the game server would wait for.
 */
export async function readTable(path: string, table: string): Promise<Buffer> {
  for (const part of ['-wal', '-journal']) {
    const size = await stat(path + part).then(
      ({ size }) => size,
      () => 0,
    );
    if (size > 0) {
      const text = `${path} has changes that only ${path}${part} holds; read it with a command instead: -- sqlite3 -csv -header`;
      throw new PeerError('source_unreachable', text, 3);
    }
  }
  const bytes = await fileBytes(path);
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
