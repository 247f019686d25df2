/** Computes the weighted median from which the gate takes its references. */

/**
 * Lower weighted median: the least value whose cumulated weight reaches half of the total; equal values keep their
 * order. The caller caps the weights, so that no single peer decides. Throws on an empty list.
 */
export function lowerWeightedMedian(values: readonly number[], weights: readonly number[]): number {
  const order = values.map((_, i) => i).sort((i, k) => values[i]! - values[k]! || i - k);
  const cumulated: number[] = [];
  let total = 0;
  for (const i of order) {
    total += weights[i]!;
    cumulated.push(total);
  }
  const at = cumulated.findIndex((sum) => sum >= total / 2);
  if (at < 0) throw new Error('a median needs at least one value');
  return values[order[at]!]!;
}
