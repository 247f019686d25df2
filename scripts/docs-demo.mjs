/**
 * `npm run docs:demo` runs the demo and writes what it prints at the end as `docs/demo.svg`, the picture of the README.
 * `--seconds N` runs it for a shorter time.
 */
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, execPath } from 'node:process';
import { root } from './lib/compile.mjs';

const run = spawnSync(execPath, ['scripts/demo.mjs', ...argv.slice(2)], { cwd: root, encoding: 'utf8' });
if (run.status !== 0) throw new Error(`the demo ended with ${run.status}: ${run.stderr}`);
const lines = run.stdout.split('\n');
const begin = lines.findLastIndex((line) => /^\d+ s of \d+ s:/.test(line));
if (begin < 0) throw new Error('the demo printed no table');
const end = lines.findIndex((line, i) => i > begin && line.startsWith('three bans or more'));
const printed = [
  '$ npm run demo',
  '',
  ...lines.slice(begin, lines[end + 1]?.startsWith('two bans') ? end + 2 : end + 1),
].map((line) => line.trimEnd());

const [charWidth, lineHeight, margin] = [7.85, 18, 18];
const width = Math.ceil(Math.max(...printed.map((line) => [...line].length)) * charWidth + 2 * margin);
const height = printed.length * lineHeight + 2 * margin;
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const texts = printed.map((line, i) => {
  const look = /^(?:untrusted|suspicious or worse) /.test(line)
    ? ' class="group"'
    : /^(?:three|two) bans/.test(line)
      ? ' class="plain"'
      : '';
  return `<text${look} x="${margin}" y="${margin + (i + 0.75) * lineHeight}">${escaped(line)}</text>`;
});
writeFileSync(
  join(root, 'docs/demo.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The demo at its end: weights of twelve game servers, and whom the group and a plain count of bans condemn">
<style>
rect { fill: #0e1116; }
text { fill: #d5dbe5; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.group { fill: #5bc98a; }
.plain { fill: #ff8a80; }
</style>
<rect width="100%" height="100%" rx="10"/>
${texts.join('\n')}
</svg>
`,
);
