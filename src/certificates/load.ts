import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { KeyAlgorithm } from '../acme/key-pair.ts';
import type { ServedCertificate } from '../tls/served-certificates.ts';
import { storedCertificates } from './queries.ts';
import { openTlsKeys } from './sealed-keys.ts';

/** Opens all stored certificates with their keys. */
export async function loadCertificates(
  context: { store: Store; secrets: SecretBox },
  hostname: string,
): Promise<ServedCertificate[]> {
  const served = new Map<
    string,
    { dnsNames: string[]; pairs: ServedCertificate['pairs'][number][]; isDefault: boolean }
  >();
  // By name and algorithm: the pair with ECDSA comes first.
  for (const { name, algorithm, names, chain, spki } of await context.store.read(storedCertificates, undefined)) {
    const key = (await openTlsKeys(context, name, algorithm as KeyAlgorithm)).find((one) => one.spki === spki);
    if (key === undefined) continue;
    const known = served.get(name) ?? { dnsNames: names, pairs: [], isDefault: name === hostname };
    served.set(name, { ...known, pairs: [...known.pairs, { cert: chain, key: key.pem }] });
  }
  return [...served.values()];
}
