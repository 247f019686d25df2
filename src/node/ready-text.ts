/** Says in words where a started node is reached and where its data lies. */
import { facts } from '../operations/text-table.js';
import type { Address } from './operator-access.js';

export function urlOf({ host, port }: Address): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
}

interface Addresses {
  readonly address: Address;
  readonly dashboardAddress: Address | null;
}

export function readyText({ address, dashboardAddress: dashboard }: Addresses, dir: string): string {
  const url = urlOf(address);
  const rows = [
    ['ready', url],
    ['docs', `${url}/docs`],
    ...(dashboard === null ? [] : [['dashboard', urlOf(dashboard)] as const]),
    ['data folder', dir],
  ] as const;
  return `${facts(rows, Number.POSITIVE_INFINITY).join('\n')}\n`;
}
