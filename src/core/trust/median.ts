/** Computes the weighted median from which the gate takes its references. */

/** The least value whose cumulated weight is half of the total; the caller caps weights. Throws on an empty list. */
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
