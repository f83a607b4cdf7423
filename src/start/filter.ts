import type { Settings } from '../../config/settings.ts';
import { FilterClient } from '../../mail/filter/client.ts';
import type { ScannerAddresses } from '../../mail/filter/scanners/scanners.ts';
import type { InboundFilter } from '../../mail/receiver/context.ts';
import { memoryShares } from './memory-shares.ts';
import type { Services } from './shared-parts.ts';

/** Settings of the filter thread. */
export interface FilterThreadSettings {
  database: string;
  /** Resolvers in the notation of Node; none: the system's. */
  servers: readonly string[];
  /** Host name of the box. */
  hostname: string;
  /** DNS lookups are allowed. */
  network: boolean;
  scanners: ScannerAddresses;
  /** Domains whose ARC seal is trusted. */
  trustedSealers: readonly string[];
  /** DNS lists for client addresses and for domains in mail. */
  dnsLists: Settings['dnsLists'];
}

/** Creates the inbound filter, whose thread starts with the first message. */
export function openFilter({ settings, store, servers, local, log, metrics }: Services): FilterClient {
  const filterSettings: FilterThreadSettings = {
    database: store.database,
    servers,
    hostname: settings.hostname,
    network: !local,
    scanners: { rspamd: settings.rspamdUrl, clamav: settings.clamav },
    trustedSealers: settings.trustedSealers,
    dnsLists: settings.dnsLists,
  };
  const thread = new URL('./filter-thread.ts', import.meta.url);
  const heapMb = memoryShares(settings.memoryMb).filterHeapMb;
  return new FilterClient({ thread, heapMb, settings: filterSettings, log, meter: metrics });
}

/** Creates the filter of the receiver; null in local mode without spam checks. */
export function createInboundFilter(filter: FilterClient, { settings, local, exempt }: Services): InboundFilter | null {
  if (local && !settings.spamChecks) return null;
  return { filter, checks: settings.spamChecks, network: !local, slows: (ip) => !local && !exempt(ip) };
}
