import type { Finding } from '../../policy/finding.ts';
import { CarefulScanner, type CareOptions } from './careful.ts';
import { Clamav, type ClamavPlace } from './clamav.ts';
import { Rspamd } from './rspamd.ts';
import type { Scanned } from './scanner.ts';

/** How long each may take for one message, ms. Signatures of a large attachment take longer than rules. */
const RSPAMD_MS = 5_000;
const CLAMAV_MS = 10_000;

/** Where each listens; undefined: it is not asked. */
export interface ScannerPlaces {
  /** URL of a normal worker. */
  rspamd?: string | undefined;
  clamav?: ClamavPlace | undefined;
}

/** Asks all of them at the same time. Never rejects, and answers within the time of the slowest. */
export type Scan = (mail: Scanned) => Promise<readonly Finding[]>;

/** The scanners that the settings name; none: nothing is found. Opens nothing until it is asked. */
export function openScanners({ rspamd, clamav }: ScannerPlaces, options: Pick<CareOptions, 'log' | 'meter'>): Scan {
  const scanners = [
    ...(rspamd === undefined ? [] : [new CarefulScanner(new Rspamd(rspamd), { ...options, timeoutMs: RSPAMD_MS })]),
    ...(clamav === undefined ? [] : [new CarefulScanner(new Clamav(clamav), { ...options, timeoutMs: CLAMAV_MS })]),
  ];
  return async (mail) => (await Promise.all(scanners.map((scanner) => scanner.scan(mail)))).flat();
}
