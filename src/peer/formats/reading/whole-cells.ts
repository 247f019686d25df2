/** Decides whether the last value of a file is complete although no line break follows it. */

/** Values whose length or end shows that nothing is missing. */
const whole = [
  /^7656(?:119|120)\d{10}$/,
  /^\d{10}$/,
  /^\d{13}$/,
  /^(?:0|-1)$/,
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  /^[0-9a-f]{32}$/i,
  /^\[U:\d:\d+(?::\d+)?\]$/i,
  /Z$/i,
  /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?: ?[+-]\d\d:?\d\d)?$/,
  /^(?:forever|never|permanent|true|false|yes|no)$/i,
];

export function isWholeCell(cell: string): boolean {
  return cell === '' || whole.some((form) => form.test(cell));
}
