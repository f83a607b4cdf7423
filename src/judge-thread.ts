import { getServers } from 'node:dns';
import { workerData } from 'node:worker_threads';
import { KnownPolicies } from '../mail/auth/known-policies.ts';
import { createResolver } from '../mail/dns/resolver.ts';
import { createJudge } from '../mail/judge/judge.ts';
import { openScanners } from '../mail/judge/scanners/scanners.ts';
import { fromThread, runJudgeThread } from '../mail/judge/thread.ts';
import { DnsLists } from '../mail/policy/lists/dns-lists.ts';
import { openForReading } from '../mail/store/engine/connection.ts';
import { Reader } from '../mail/store/engine/reader.ts';
import type { JudgeSettings } from './start/judge.ts';

// The third composition root: what the judge's thread loads. It reads the database and writes nothing.
/** What it reads of an account lies together; more would only be held twice. */
const CACHE_KIB = 4096;
const { database, servers, hostname, network, trustedSealers, dnsLists, scanners } = workerData as JudgeSettings;
const voice = fromThread();
const reader = new Reader(openForReading(database, CACHE_KIB));
const resolver = createResolver({ servers });
const judge = createJudge({
  resolver: network ? resolver : null,
  hostname,
  scan: openScanners(scanners, { log: voice, meter: voice }),
  policies: new KnownPolicies(),
  trustedSealers,
  lists: new DnsLists({
    resolver,
    servers: servers.length > 0 ? servers : getServers(),
    ...dnsLists,
    log: voice,
    monotonic: () => performance.now(),
  }),
  read: (what, input) => reader.query(what, input),
  alive: () => voice.alive(),
});
runJudgeThread(judge, () => reader.close());
