import type { Store } from '../../mail/store/engine/types.ts';
import { failedNames, failedOrders, publishedTlsKeys, storedCertificates } from './queries.ts';

/** State of one automatic certificate. Times are ms UTC. */
export interface CertificateState {
  name: string;
  algorithm: string;
  status: 'valid' | 'renewal_failing' | 'expired' | 'missing';
  /** DNS names. */
  names: string[];
  notAfter: number | null;
  renewAt: number | null;
  failures: number;
  error: string | null;
  retryAt: number | null;
  refusedNames: { name: string; error: string; retryAt: number }[];
}

interface StateContext {
  store: Store;
  clock: () => number;
  settings: { hostname: string };
}

/** Reads the state of all automatic certificates, and the TLSA records of the MX listener. */
export async function certificateStates({ store, clock, settings }: StateContext): Promise<{
  certificates: CertificateState[];
  tlsa: string[];
}> {
  const [stored, failed, refused, keys] = await Promise.all([
    store.read(storedCertificates, undefined),
    store.read(failedOrders, undefined),
    store.read(failedNames, undefined),
    store.read(publishedTlsKeys, { name: settings.hostname }),
  ]);
  const keyOf = ({ name, algorithm }: { name: string; algorithm: string }): string => `${name} ${algorithm}`;
  const byKey = new Map([...failed, ...stored].map((one) => [keyOf(one), one]));
  const certificates = [...byKey.values()].map(({ name, algorithm }): CertificateState => {
    const one = stored.find((row) => keyOf(row) === keyOf({ name, algorithm }));
    const failure = failed.find((row) => keyOf(row) === keyOf({ name, algorithm }));
    const isFailing = failure !== undefined;
    const expired = one !== undefined && one.notAfter <= clock();
    return {
      name,
      algorithm,
      status: one === undefined ? 'missing' : expired ? 'expired' : isFailing ? 'renewal_failing' : 'valid',
      names: one?.names ?? [],
      notAfter: one?.notAfter ?? null,
      renewAt: one?.renewAt ?? null,
      failures: failure?.failures ?? 0,
      error: failure?.error ?? null,
      retryAt: failure?.retryAt ?? null,
      refusedNames: refused
        .filter(({ dnsName }) => dnsName === name || dnsName.endsWith(`.${name}`))
        .map(({ dnsName, error, retryAt }) => ({ name: dnsName, error, retryAt })),
    };
  });
  return { certificates, tlsa: keys.map(({ spki }) => `3 1 1 ${spki}`) };
}
