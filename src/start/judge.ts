import type { Settings } from '../../config/settings.ts';
import { JudgeClient } from '../../mail/judge/client.ts';
import type { ScannerPlaces } from '../../mail/judge/scanners/scanners.ts';
import type { Judging } from '../../mail/receiver/intake-desk.ts';
import type { Inside } from './inside.ts';

/** What the judge's thread is told. */
export interface JudgeSettings {
  database: string;
  /** Resolvers as Node writes them; none: the system's. */
  servers: readonly string[];
  /** Our own name. */
  hostname: string;
  /** The network may be asked. */
  network: boolean;
  scanners: ScannerPlaces;
  /** Domains whose ARC seal is believed. */
  trustedSealers: readonly string[];
  /** Asked about addresses that bring mail, and about domains that mail names. */
  dnsLists: Settings['dnsLists'];
}

/** Who judges mail from outside, in a thread that starts when it is first needed. */
export function openJudge({ settings, store, servers, local, log, metrics }: Inside): JudgeClient {
  const told: JudgeSettings = {
    database: store.database,
    servers,
    hostname: settings.hostname,
    network: !local,
    scanners: { rspamd: settings.rspamdUrl, clamav: settings.clamav },
    trustedSealers: settings.trustedSealers,
    dnsLists: settings.dnsLists,
  };
  const thread = new URL('../judge-thread.ts', import.meta.url);
  return new JudgeClient({ thread, settings: told, log, meter: metrics });
}

/** What the receiver asks it. Without checks in local mode nobody has to be asked. */
export function judgingBy(judge: JudgeClient, { settings, local, exempt }: Inside): Judging | null {
  if (local && !settings.spamChecks) return null;
  return { judge, checks: settings.spamChecks, network: !local, slows: (ip) => !local && !exempt(ip) };
}
