/** Provides the settings of a node of a cluster from its configuration, and opens the shared log in etcd with them. */
import { readFileSync } from 'node:fs';
import { SecretProof } from '../../core/hashing/secret-proof.js';
import { messageOf } from '../../errors.js';
import type { MemberStatus } from '../../group/cluster-api.js';
import { EtcdClient } from '../../store/etcd/etcd-client.js';
import { etcdKeys } from '../../store/etcd/etcd-keys.js';
import { EtcdLog } from '../../store/etcd/etcd-log.js';
import { SlotCipher } from '../../store/etcd/slot-codec.js';
import type { Config } from '../config.js';
import { StartRefusedError } from '../startup.js';

export function settingsOf({ nodeId, advertiseUrl, clusterSecret, salt, etcdEndpoints }: Config) {
  if (nodeId === null || advertiseUrl === null || clusterSecret === null || salt === null || etcdEndpoints === null) {
    throw new Error('cluster: the configuration lacks a required setting');
  }
  return { nodeId, url: advertiseUrl, secret: clusterSecret, salt, endpoints: etcdEndpoints };
}

export function openEtcdLog(config: Config): EtcdLog {
  const { endpoints, nodeId, salt, secret } = settingsOf(config);
  const pem = (variable: string, path: string | null): Buffer | null => {
    if (path === null) return null;
    try {
      return readFileSync(path);
    } catch (error) {
      throw new StartRefusedError(`${variable}: ${path} cannot be read: ${messageOf(error)}`);
    }
  };
  const settings = {
    endpoints,
    ca: pem('ETCD_CA_FILE', config.etcdCaFile),
    cert: pem('ETCD_CERT_FILE', config.etcdCertFile),
    key: pem('ETCD_KEY_FILE', config.etcdKeyFile),
    username: config.etcdUsername,
    password: config.etcdPassword,
  };
  // Different nodes prefer different members.
  const first = [...nodeId].reduce((sum, character) => sum + character.charCodeAt(0), 0);
  const prefix = config.etcdPrefix ?? `/ptf/${encodeURIComponent(config.groupId)}/`;
  const cipher = new SlotCipher(Buffer.from(salt), config.groupId);
  const client = new EtcdClient(settings, first);
  return new EtcdLog(client, etcdKeys(prefix), cipher, new SecretProof(secret, config.groupId, 'secret'));
}

/** Returns the status of each member of etcd, in the order of the endpoints; null for a member that does not answer. */
export function membersOf({ client }: Pick<EtcdLog, 'client'>): Promise<readonly (MemberStatus | null)[]> {
  return Promise.all(
    client.endpoints.map(async (endpoint, at) => {
      try {
        const { leader, header, version, dbSize, dbSizeInUse, errors } = await client.status(at);
        const leads = leader === header.member_id;
        const alarms = errors.flatMap((error) => /\balarm:(\w+)/.exec(error)?.[1] ?? []);
        const bytes = { dbBytes: Number(dbSize), dbBytesInUse: Number(dbSizeInUse) };
        return { endpoint, leads, version, ...bytes, alarms: [...new Set(alarms)] };
      } catch {
        return null;
      }
    }),
  );
}
