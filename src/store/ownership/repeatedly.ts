/** Repeats work in the background, never two runs at a time. */

/**
 * Runs `work` now and then every `everyMs`, but skips a run while the last one is still active. `work` must not reject.
 * Returns a function that stops the repetition and resolves once no run is active.
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
