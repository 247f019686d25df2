/** The priority of the threads that work in the background. */
import { setPriority } from 'node:os';

const LOWEST = 19;

/** Takes the calling thread to the lowest one, on Linux: elsewhere this would lower the whole node. */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, LOWEST);
}
