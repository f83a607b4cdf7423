import type { Finding } from '../../policy/finding.ts';
import { CarefulScanner, type CareOptions } from './careful.ts';
import type { ClamavPlace } from './clamav.ts';
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

/**
 * The scanners that the settings name; none: nothing is found. Opens nothing, and loads nothing that only they need, until
 * it is asked.
 */
export function openScanners(places: ScannerPlaces, options: Pick<CareOptions, 'log' | 'meter'>): Scan {
  if (places.rspamd === undefined && places.clamav === undefined) return () => Promise.resolve([]);
  let opened: Promise<readonly CarefulScanner[]> | undefined;
  return async (mail) => {
    const scanners = await (opened ??= scannersAt(places, options));
    return (await Promise.all(scanners.map((scanner) => scanner.scan(mail)))).flat();
  };
}

async function scannersAt(
  { rspamd, clamav }: ScannerPlaces,
  options: Pick<CareOptions, 'log' | 'meter'>,
): Promise<readonly CarefulScanner[]> {
  const scanners: CarefulScanner[] = [];
  if (rspamd !== undefined) {
    const { Rspamd } = await import('./rspamd.ts');
    scanners.push(new CarefulScanner(new Rspamd(rspamd), { ...options, timeoutMs: RSPAMD_MS }));
  }
  if (clamav !== undefined) {
    const { Clamav } = await import('./clamav.ts');
    scanners.push(new CarefulScanner(new Clamav(clamav), { ...options, timeoutMs: CLAMAV_MS }));
  }
  return scanners;
}
