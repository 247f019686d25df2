/** Resolves to true once `work` settles, to false after `ms`. Ignores its failure and does not cancel it. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = await Promise.race([Promise.allSettled([work]), late]);
  clearTimeout(timer);
  return settled !== false;
}
