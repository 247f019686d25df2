/**
 * Declares the messages and methods of etcd's API that this project uses, with the field numbers of etcd's `rpc.proto`
 * and `kv.proto` (version 3.4 and later). Numbers of 64 bits are decimal text, because a lease id exceeds 2^53.
 */
import { fromJSON, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';

type Field = readonly [type: string, id: number, rule?: 'repeated'];
type Fields = Readonly<Record<string, Field>>;

function message(fields: Fields, oneofs: Readonly<Record<string, readonly string[]>> = {}) {
  const entries = Object.entries(fields).map(([name, [type, id, rule]]) => [name, { type, id, ...(rule && { rule }) }]);
  const groups = Object.entries(oneofs).map(([name, oneof]) => [name, { oneof: [...oneof] }]);
  return { fields: Object.fromEntries(entries), oneofs: Object.fromEntries(groups) };
}

function service(methods: Readonly<Record<string, readonly [request: string, response: string, streams?: true]>>) {
  const entries = Object.entries(methods).map(([name, [requestType, responseType, streams]]) => {
    const streaming = streams === true ? { requestStream: true, responseStream: true } : {};
    return [name, { requestType, responseType, ...streaming }];
  });
  return { methods: Object.fromEntries(entries) };
}

const header: Field = ['ResponseHeader', 1];

const types = {
  ResponseHeader: message({ cluster_id: ['uint64', 1], member_id: ['uint64', 2], revision: ['int64', 3] }),
  KeyValue: message({
    key: ['bytes', 1],
    create_revision: ['int64', 2],
    mod_revision: ['int64', 3],
    version: ['int64', 4],
    value: ['bytes', 5],
    lease: ['int64', 6],
  }),
  RangeRequest: message({
    key: ['bytes', 1],
    range_end: ['bytes', 2],
    limit: ['int64', 3],
    keys_only: ['bool', 8],
  }),
  RangeResponse: message({ header, kvs: ['KeyValue', 2, 'repeated'], more: ['bool', 3], count: ['int64', 4] }),
  PutRequest: message({ key: ['bytes', 1], value: ['bytes', 2], lease: ['int64', 3] }),
  PutResponse: message({ header }),
  DeleteRangeRequest: message({ key: ['bytes', 1], range_end: ['bytes', 2] }),
  DeleteRangeResponse: message({ header, deleted: ['int64', 2] }),
  Compare: message(
    {
      result: ['CompareResult', 1],
      target: ['CompareTarget', 2],
      key: ['bytes', 3],
      create_revision: ['int64', 5],
      value: ['bytes', 7],
      lease: ['int64', 8],
    },
    { target_union: ['create_revision', 'value', 'lease'] },
  ),
  CompareResult: { values: { EQUAL: 0, GREATER: 1, LESS: 2, NOT_EQUAL: 3 } },
  CompareTarget: { values: { VERSION: 0, CREATE: 1, MOD: 2, VALUE: 3, LEASE: 4 } },
  RequestOp: message(
    {
      request_range: ['RangeRequest', 1],
      request_put: ['PutRequest', 2],
      request_delete_range: ['DeleteRangeRequest', 3],
    },
    { request: ['request_range', 'request_put', 'request_delete_range'] },
  ),
  ResponseOp: message(
    {
      response_range: ['RangeResponse', 1],
      response_put: ['PutResponse', 2],
      response_delete_range: ['DeleteRangeResponse', 3],
    },
    { response: ['response_range', 'response_put', 'response_delete_range'] },
  ),
  TxnRequest: message({
    compare: ['Compare', 1, 'repeated'],
    success: ['RequestOp', 2, 'repeated'],
    failure: ['RequestOp', 3, 'repeated'],
  }),
  TxnResponse: message({ header, succeeded: ['bool', 2], responses: ['ResponseOp', 3, 'repeated'] }),
  CompactionRequest: message({ revision: ['int64', 1], physical: ['bool', 2] }),
  CompactionResponse: message({ header }),
  LeaseGrantRequest: message({ TTL: ['int64', 1], ID: ['int64', 2] }),
  LeaseGrantResponse: message({ header, ID: ['int64', 2], TTL: ['int64', 3], error: ['string', 4] }),
  LeaseRevokeRequest: message({ ID: ['int64', 1] }),
  LeaseRevokeResponse: message({ header }),
  LeaseKeepAliveRequest: message({ ID: ['int64', 1] }),
  LeaseKeepAliveResponse: message({ header, ID: ['int64', 2], TTL: ['int64', 3] }),
  WatchCreateRequest: message({ key: ['bytes', 1], range_end: ['bytes', 2], start_revision: ['int64', 3] }),
  WatchRequest: message({ create_request: ['WatchCreateRequest', 1] }, { request_union: ['create_request'] }),
  Event: message({ type: ['EventType', 1], kv: ['KeyValue', 2] }),
  EventType: { values: { PUT: 0, DELETE: 1 } },
  WatchResponse: message({
    header,
    watch_id: ['int64', 2],
    created: ['bool', 3],
    canceled: ['bool', 4],
    compact_revision: ['int64', 5],
    cancel_reason: ['string', 6],
    events: ['Event', 11, 'repeated'],
  }),
  StatusRequest: message({}),
  StatusResponse: message({
    header,
    version: ['string', 2],
    dbSize: ['int64', 3],
    leader: ['uint64', 4],
    errors: ['string', 8, 'repeated'],
    dbSizeInUse: ['int64', 9],
  }),
  DefragmentRequest: message({}),
  DefragmentResponse: message({ header }),
  AuthenticateRequest: message({ name: ['string', 1], password: ['string', 2] }),
  AuthenticateResponse: message({ header, token: ['string', 2] }),
  KV: service({
    Range: ['RangeRequest', 'RangeResponse'],
    Put: ['PutRequest', 'PutResponse'],
    Txn: ['TxnRequest', 'TxnResponse'],
    Compact: ['CompactionRequest', 'CompactionResponse'],
  }),
  Watch: service({ Watch: ['WatchRequest', 'WatchResponse', true] }),
  Lease: service({
    LeaseGrant: ['LeaseGrantRequest', 'LeaseGrantResponse'],
    LeaseRevoke: ['LeaseRevokeRequest', 'LeaseRevokeResponse'],
    LeaseKeepAlive: ['LeaseKeepAliveRequest', 'LeaseKeepAliveResponse', true],
  }),
  Maintenance: service({
    Status: ['StatusRequest', 'StatusResponse'],
    Defragment: ['DefragmentRequest', 'DefragmentResponse'],
  }),
  Auth: service({ Authenticate: ['AuthenticateRequest', 'AuthenticateResponse'] }),
};

const definitions = fromJSON(
  { nested: { etcdserverpb: { nested: types } } },
  { longs: String, enums: String, defaults: true, oneofs: true },
);

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

/** Returns the path and the codec of a method. */
export function methodOf(name: MethodName): MethodDefinition<object, object> {
  const [service, method] = name.split('.') as [string, string];
  const definition = definitions[`etcdserverpb.${service}`] as ServiceDefinition;
  return definition[method]!;
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
  | { readonly result: 'EQUAL'; readonly target: 'VALUE'; readonly value: Buffer }
  | { readonly result: 'EQUAL'; readonly target: 'LEASE'; readonly lease: string }
);

export type RequestOp =
  | { readonly request_range: RangeRequest }
  | { readonly request_put: PutRequest }
  | { readonly request_delete_range: { readonly key: Buffer; readonly range_end?: Buffer } };

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
