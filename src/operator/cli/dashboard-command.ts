/** `ptf dashboard set-password` stores the hash in the data folder, whether or not a node runs; creates the folder. */
import type { Command } from 'commander';
import { limits } from '../../limits.js';
import { hashPassword, passwordFile, passwordProblem } from '../dashboard/sessions/password.js';
import { type CommandContext, examples } from './command-context.js';
import { OperatorError } from './node-client.js';
import { groupOf } from './operation-commands.js';

export function addDashboard(program: Command, session: CommandContext): void {
  groupOf(program, 'dashboard')
    .command('set-password')
    .description('set the password of the dashboard, prompted for or read from standard input; ends all sessions')
    .addHelpText(
      'after',
      examples('dashboard set-password', 'dashboard set-password < /run/secrets/dashboard-password'),
    )
    .action(async () => {
      const dir = session.dir();
      const password = await newPassword(session);
      await session.keepSecret(dir, passwordFile, `${await hashPassword(password)}\n`);
      const lines = () => [
        'The password is set. All sessions of the dashboard have ended; operators must sign in again.',
      ];
      session.done({ value: { ok: true }, lines });
    });
}

async function newPassword({ terminal }: CommandContext): Promise<string> {
  if (terminal.askSecret === null) {
    return sound((await terminal.input(limits.passwordLengthMax * 2 + 2)).replace(/\r?\n$/, ''));
  }
  const password = await terminal.askSecret('New password');
  if (password === '') throw new OperatorError('not_confirmed', 'no password was entered; nothing was changed');
  sound(password);
  if ((await terminal.askSecret('Repeat the password')) === password) return password;
  throw new OperatorError('not_confirmed', 'the two passwords differ; nothing was changed');
}

function sound(password: string): string {
  const problem = passwordProblem(password);
  if (problem === undefined) return password;
  throw new OperatorError('wrong_usage', `the password ${problem}`, 2);
}
