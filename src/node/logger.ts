/** Creates the node's log. Masking is a safeguard; pino's `redact` is not used, because wildcards cost 67 us a line. */
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from './variables.js';

const secretField =
  /^((x[-_]peer[-_])?api[-_]?key|authorization|(set-)?cookie|service_session|(group[-_]?)?salt|session[-_]?secret|player[-_]?id|contact[-_]?email)$/i;

const depthMax = 5;

function masked(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      secretField.test(field) && value !== null ? '***' : loggable(value, depth),
    ]),
  );
}

/** Plain objects and arrays are copied recursively; other values define their own form (errors, dates). */
function loggable(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isArray = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!isArray && prototype !== Object.prototype && prototype !== null) return value;
  if (depth >= depthMax) return '[deep]';
  return isArray ? value.map((item) => loggable(item, depth + 1)) : masked(value, depth + 1);
}

/** Bindings of child loggers are not masked. */
export function createLog(level: LogLevel, to: DestinationStream): Logger {
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => masked(fields, 0),
      },
    },
    to,
  );
}
