/** Declares the findings of the doctor: a check, its result, a sentence and, if there is a problem, the remedy. */

export interface Finding {
  readonly check: 'configuration' | 'node' | 'clock' | 'salt' | 'ids' | 'peer' | 'games' | 'spool';
  readonly result: 'ok' | 'warn' | 'fail';
  readonly text: string;
}

export const ok = (check: Finding['check'], text: string): Finding => ({ check, result: 'ok', text });
export const warn = (check: Finding['check'], text: string): Finding => ({ check, result: 'warn', text });
export const fail = (check: Finding['check'], text: string): Finding => ({ check, result: 'fail', text });
