import { getServers } from 'node:dns';
import { workerData } from 'node:worker_threads';
import { DmarcPolicyCache } from '../../mail/auth/dmarc-policy-cache.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import { type DnsChecks, filterMessage, type FilterOptions } from '../../mail/filter/filter-message.ts';
import { openScanners } from '../../mail/filter/scanners/scanners.ts';
import { heartbeat, runFilterThread, threadReporter } from '../../mail/filter/thread.ts';
import { DnsLists } from '../../mail/policy/lists/dns-lists.ts';
import { openReader } from '../../mail/store/engine/open-reader.ts';
import type { FilterThreadSettings } from './filter.ts';

// Composition root of the filter thread. It reads the database and writes nothing.
/** Small: the rows of one account are adjacent, and the main thread has a cache too. */
const CACHE_KIB = 4096;
const { database, servers, hostname, network, trustedSealers, dnsLists, scanners } = workerData as FilterThreadSettings;
const reader = await openReader(database, CACHE_KIB);
const options: FilterOptions = {
  dns: network ? createDnsChecks() : null,
  hostname,
  scan: openScanners(scanners, { log: threadReporter, meter: threadReporter }),
  trustedSealers,
  read: (what, input) => reader.query(what, input),
  heartbeat,
};
runFilterThread({ filter: (mail) => filterMessage(options, mail) }, () => void reader.close());

function createDnsChecks(): DnsChecks {
  const resolver = createResolver({ servers });
  const lists = new DnsLists({
    resolver,
    servers: servers.length > 0 ? servers : getServers(),
    ...dnsLists,
    log: threadReporter,
    monotonic: () => performance.now(),
  });
  return { resolver, policies: new DmarcPolicyCache(), lists };
}
