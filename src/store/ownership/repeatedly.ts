/** Work that comes again and again beside everything else, never twice at a time. */

/**
 * Does `work` now and then each `everyMs`, but not while it still goes on. It must not reject. The result stops that,
 * and resolves when nothing of it goes on any more.
 */
export function repeatedly(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let going: Promise<void> | null = null;
  const look = () => {
    going ??= work().finally(() => {
      going = null;
    });
  };
  look();
  const timer = setInterval(look, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await going;
  };
}
