/** Loads and declares etcd's messages. Numbers of 64 bits are text, because a lease id exceeds 2^53. */
import { fileURLToPath } from 'node:url';
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';

const definitions = loadSync(fileURLToPath(new URL('etcd.proto', import.meta.url)), {
  ...{ keepCase: true, longs: String, enums: String, defaults: true, oneofs: true },
});

export type MethodName =
  | 'KV.Range'
  | 'KV.Put'
  | 'KV.Txn'
  | 'KV.Compact'
  | 'Watch.Watch'
  | 'Lease.LeaseGrant'
  | 'Lease.LeaseRevoke'
  | 'Lease.LeaseKeepAlive'
  | 'Maintenance.Status'
  | 'Maintenance.Defragment'
  | 'Auth.Authenticate';

export function methodOf(name: MethodName): MethodDefinition<object, object> {
  const [service, method] = name.split('.') as [string, string];
  return (definitions[`etcdserverpb.${service}`] as ServiceDefinition)[method]!;
}

export interface Header {
  readonly revision: string;
  readonly member_id: string;
}

export interface KeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly create_revision: string;
  readonly mod_revision: string;
  readonly lease: string;
}

export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly count: string;
}

export interface RangeRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly keys_only?: boolean;
}

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease?: string;
}

export type Compare = { readonly key: Buffer } & (
  | { readonly result: 'EQUAL' | 'GREATER'; readonly target: 'CREATE'; readonly create_revision: string }
  | { readonly result: 'EQUAL'; readonly target: 'MOD'; readonly mod_revision: string }
  | { readonly result: 'EQUAL'; readonly target: 'VALUE'; readonly value: Buffer }
  | { readonly result: 'EQUAL'; readonly target: 'LEASE'; readonly lease: string }
);

export type RequestOp =
  | { readonly request_range: RangeRequest }
  | { readonly request_put: PutRequest }
  | { readonly request_delete_range: { readonly key: Buffer; readonly range_end?: Buffer } };

/** Holds if the key was created by the transaction of this revision; '0': if it does not exist. */
export function createdAt(key: Buffer, revision: string): Compare {
  return { key, result: 'EQUAL', target: 'CREATE', create_revision: revision };
}

export function changedAt(key: Buffer, revision: string): Compare {
  return { key, result: 'EQUAL', target: 'MOD', mod_revision: revision };
}

export function exists(key: Buffer): Compare {
  return { key, result: 'GREATER', target: 'CREATE', create_revision: '0' };
}

export function hasText(key: Buffer, text: string | number): Compare {
  return { key, result: 'EQUAL', target: 'VALUE', value: Buffer.from(String(text)) };
}

export function hasLease(key: Buffer, lease: string): Compare {
  return { key, result: 'EQUAL', target: 'LEASE', lease };
}

export function putText(key: Buffer, text: string | number) {
  return { request_put: { key, value: Buffer.from(String(text)) } };
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure?: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeResponse }[];
}

export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly events: readonly { readonly type: 'PUT' | 'DELETE'; readonly kv: KeyValue }[];
}

export interface StatusResponse {
  readonly header: Header;
  readonly version: string;
  readonly dbSize: string;
  readonly dbSizeInUse: string;
  readonly leader: string;
  /** Includes each active alarm of any member, as `memberID:1 alarm:NOSPACE `. */
  readonly errors: readonly string[];
}
