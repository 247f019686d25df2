/** Formats numbers, times and names. Needs no document. */

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function count(value: number): string {
  return whole.format(value);
}

/** `12,345` up to a hundred thousand, `1.2M` beyond. */
export function compact(value: number): string {
  return value < 100_000 ? whole.format(Math.round(value)) : short.format(value);
}

export function rate(value: number): string {
  if (value === 0) return '0';
  return value < 10 ? value.toFixed(1) : compact(value);
}

/** Milliseconds: `0.42 ms`, `12 ms`, `1.3 s`. */
export function milliseconds(value: number): string {
  if (value === 0) return '0 ms';
  if (value < 1) return `${value.toFixed(2)} ms`;
  if (value < 10) return `${value.toFixed(1)} ms`;
  return value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}

export function percent(part: number, of: number): string {
  if (of === 0) return '0%';
  const value = (100 * part) / of;
  return value > 0 && value < 0.1 ? '<0.1%' : `${value.toFixed(value < 10 ? 1 : 0)}%`;
}

/** `1.2 GB`, in powers of 1,000 as disks are sold. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let left = value;
  while (left >= 1000 && unit < units.length - 1) {
    left /= 1000;
    unit++;
  }
  return `${left < 10 && unit > 0 ? left.toFixed(1) : Math.round(left)} ${units[unit]}`;
}

/** `3 min ago`; `now` for a recent or future time. */
export function ago(iso: string, now: number): string {
  const seconds = Math.floor((now - Date.parse(iso)) / 1000);
  if (seconds < 5) return 'now';
  return `${span(seconds)} ago`;
}

export function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

export function asOf(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function localTime(iso: string): string {
  return new Date(iso).toLocaleString('sv', { timeZoneName: 'short' });
}

export function head(id: string, length = 8): string {
  return id.length <= length + 1 ? id : `${id.slice(0, length)}…`;
}

export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Escapes what breaks or reverses the text of a name that a peer chose. The id replaces an invisible name. */
export function displayName(name: string, id: string): string {
  if (!/[^\p{Default_Ignorable_Code_Point}\p{Z}\p{C}\u2800]/u.test(name)) return id;
  return name.replace(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (found) => `<${found.codePointAt(0)?.toString(16)}>`,
  );
}

export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** A half-life in days; 0 means that nothing decays. */
export function halfLife(days: number): string {
  return days === 0 ? 'off' : plural(days, 'day');
}
