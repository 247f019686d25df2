/** `ptf-peer doctor`: prints the findings of the examination; exit code 1 if a check failed, 3 if no node answers. */
import type { Command } from 'commander';
import { examine } from '../doctor/examination.js';
import type { Session } from './session.js';

const help = `
Exit codes: 0 all checks passed, 1 a check failed, 2 no configuration, 3 the node does not answer

Examples:
  ptf-peer doctor
  ptf-peer doctor --json`;

export function addDoctor(program: Command, session: Session): void {
  program
    .command('doctor')
    .description('check state folder, node, key, peer, salt, clock, kinds of ids and spools; changes nothing')
    .addHelpText('after', help)
    .action(async () => {
      const { findings, reachable } = await examine(await session.config());
      const healthy = findings.every(({ result }) => result !== 'fail');
      if (session.json()) session.terminal.out(`${JSON.stringify({ ok: healthy, reachable, findings })}\n`);
      else
        for (const { check, result, text } of findings) session.terminal.out(`${result.padEnd(5)}${check}: ${text}\n`);
      session.end(!reachable ? 3 : healthy ? 0 : 1);
    });
}
