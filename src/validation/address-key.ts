/** Makes the key under which limits count a network address: an IPv6 /64 counts as one. */

const V6_GROUPS = 8;
/** A customer owns at least a /64, so its addresses count as one. */
const V6_GROUPS_COUNTED = 4;

export function addressKeyOf(address: string | undefined): string {
  if (address === undefined) return 'others';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = new Array<string>(Math.max(0, V6_GROUPS - before.length - after.length)).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, V6_GROUPS_COUNTED).join(':')}::/64`;
}
