/** Logs a lasting problem once when it begins, and once when it ends. */

/** Returns a function that sets the present problem; null if there is none. `key`: by which it is known as the same. */
export function problemLog(log: (line: string) => void, recovered: string) {
  let present: string | null = null;
  return (text: string | null, key = text): void => {
    if (key === present) return;
    present = key;
    log(text ?? recovered);
  };
}
