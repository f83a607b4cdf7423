import type { Answer } from 'dns-packet';
import type { NameServer } from './exchange.ts';
import type { Lookup } from './lookup.ts';
import { canonicalHostName, queryServers } from './query-servers.ts';

/** RFC 4034 5.1. */
export interface DsRecord {
  keyTag: number;
  algorithm: number;
  digestType: number;
  digest: Buffer;
}

const TIMEOUT_MS = 3000;

/** Looks up the DS records that the zone above has for a zone. Not cached: people change one and look again. */
export async function lookUpDs(
  servers: readonly NameServer[],
  name: string,
  timeoutMs = TIMEOUT_MS,
): Promise<Lookup<DsRecord>> {
  const question = { type: 'DS', name: canonicalHostName(name), read: dsRecord } as const;
  return (await queryServers(servers, question, timeoutMs)).lookup;
}

function dsRecord(answer: Answer): DsRecord | undefined {
  if (answer.type !== 'DS') return undefined;
  const { keyTag, algorithm, digestType, digest } = answer.data;
  return { keyTag, algorithm, digestType, digest: Buffer.from(digest) };
}
