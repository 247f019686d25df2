/** Connection bounds of the operator's servers, the same for the socket and for the dashboard. */
import { limits } from '../../limits.js';

export const serverBounds = {
  maxHeaderSize: limits.parserHeadBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
} as const;
