import type { Finding } from '../../policy/finding.ts';
import { ScannerGuard, type ScannerGuardOptions } from './scanner-guard.ts';
import type { ClamavAddress } from './clamav.ts';
import type { ScannedMessage } from './scanner.ts';

/** Time for one message, ms. Signature checks of large attachments take longer than rules. */
const RSPAMD_MS = 5_000;
const CLAMAV_MS = 10_000;

/** Addresses of the scanners; undefined: not used. */
export interface ScannerAddresses {
  /** URL of the normal worker. */
  rspamd?: string | undefined;
  clamav?: ClamavAddress | undefined;
}

/** Runs all scanners in parallel. Never rejects. */
export type ScanAll = (mail: ScannedMessage) => Promise<readonly Finding[]>;

/** Returns a scan with the configured scanners, if any. Their modules are loaded at the first scan. */
export function openScanners(
  addresses: ScannerAddresses,
  options: Pick<ScannerGuardOptions, 'log' | 'meter'>,
): ScanAll | undefined {
  if (addresses.rspamd === undefined && addresses.clamav === undefined) return undefined;
  let opened: Promise<readonly ScannerGuard[]> | undefined;
  return async (mail) => {
    const scanners = await (opened ??= createScanners(addresses, options));
    return (await Promise.all(scanners.map((scanner) => scanner.scan(mail)))).flat();
  };
}

async function createScanners(
  { rspamd, clamav }: ScannerAddresses,
  options: Pick<ScannerGuardOptions, 'log' | 'meter'>,
): Promise<readonly ScannerGuard[]> {
  const scanners: ScannerGuard[] = [];
  if (rspamd !== undefined) {
    const { Rspamd } = await import('./rspamd.ts');
    scanners.push(new ScannerGuard(new Rspamd(rspamd), { ...options, timeoutMs: RSPAMD_MS }));
  }
  if (clamav !== undefined) {
    const { Clamav } = await import('./clamav.ts');
    scanners.push(new ScannerGuard(new Clamav(clamav), { ...options, timeoutMs: CLAMAV_MS }));
  }
  return scanners;
}
