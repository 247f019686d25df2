/** Measures a ban list of 200,000 rows through `ptf-peer import` into a node: time and memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../ending.js';
import { gameId } from '../load/requests.js';
import { peakMbOf, peakMemory } from '../process-stats.js';
import { measured } from '../run.js';

const rows = 200_000;
const entry = fileURLToPath(new URL('../../src/ptf-peer.js', import.meta.url));
const sampleMs = 100;

export const importing = measured({
  name: 'import',
  summary: `ptf-peer import: a SourceBans list of ${rows.toLocaleString('en')} rows, its time and its memory`,
  players: 1_000,
  async measure(run) {
    const { site, salt, node } = await run.node();
    const { peerId, apiKey } = site.peers[0]!;
    const folder = temporaryFolder('ptf-bench-import-');
    try {
      const config = join(folder.path, 'config.json');
      const file = join(folder.path, 'sb_bans.csv');
      const state_dir = join(folder.path, 'state');
      const peer = { url: node.url, peer_id: peerId, api_key: apiKey };
      const members = { ...peer, group_salt: salt, game_ids: [gameId], state_dir };
      writeFileSync(config, JSON.stringify(members), { mode: 0o600 });
      writeFileSync(file, listOf(rows));
      for (const [name, more] of [
        ['dry run', ['--dry-run', '--json']],
        ['import', ['--json']],
        ['second import of the same list', ['--json']],
      ] as const) {
        const { seconds, peakMb, out } = await runCommand(['--config', config, 'import', file, ...more]);
        run.report.figure(`${name} of ${rows} rows`, 's', 'less', seconds);
        run.report.figure(`${name}: peak memory`, 'MB', 'less', peakMb);
        if (name === 'dry run') continue;
        const { delivered, duplicates } = JSON.parse(out) as { delivered: number; duplicates: number };
        const known = name === 'import' ? 0 : rows;
        if (delivered !== rows || duplicates !== known) {
          run.report.fault(`${name}: ${delivered} of ${rows} delivered, ${duplicates} of them known before`);
        }
      }
    } finally {
      folder.remove();
    }
  },
});

function listOf(count: number): string {
  const created = Math.floor(Date.now() / 1_000) - 86_400;
  const header =
    'bid,ip,authid,name,created,ends,length,reason,aid,adminIp,sid,country,RemovedBy,RemoveType,RemovedOn,type,ureason';
  const lines = Array.from(
    { length: count },
    (_, i) =>
      `${i},198.51.100.20,STEAM_0:${i & 1}:${1_000_000 + (i >> 1)},Player ${i},${created},${created},0,"Aimbot, demo ${i}",2,192.0.2.1,3,DE,,,,0,`,
  );
  return `${header}\n${lines.join('\n')}\n`;
}

/** One run of the command; its peak memory is what the kernel says of the process. */
async function runCommand(args: readonly string[]) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  const peak = peakMemory(() => peakMbOf(child.pid!), sampleMs);
  const [code] = (await once(child, 'close')) as [number | null];
  const peakMb = peak.end();
  const seconds = (performance.now() - startedMs) / 1_000;
  if (code !== 0) throw new Error(`ptf-peer ended with ${code}`);
  return { seconds, peakMb, out: Buffer.concat(pieces).toString() };
}
