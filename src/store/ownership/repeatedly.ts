/** Repeats work in the background, never two runs at a time. */

/**
 * Runs `work` now and then every `everyMs`, but skips a run while the last one is still active. `work` must not reject.
 * Returns a function that stops the repetition and resolves once no run is active.
 */
export function repeatedly(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let activeRun: Promise<void> | null = null;
  const run = () => {
    activeRun ??= work().finally(() => {
      activeRun = null;
    });
  };
  run();
  const timer = setInterval(run, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await activeRun;
  };
}
