/** Repeats work in the background, never two runs at a time. */

/** Runs `work`, which must not reject, now and every `everyMs`, never twice at a time. The result stops it. */
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
