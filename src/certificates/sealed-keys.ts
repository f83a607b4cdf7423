import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { AccountKey, createAccountKey } from '../acme/account-key.ts';
import { createKey, type KeyAlgorithm, publicKeyHash } from '../acme/key-pair.ts';
import { addAcmeAccount, addNextTlsKey } from './commands.ts';
import { acmeAccount, tlsKeys } from './queries.ts';

const ACCOUNT_PURPOSE = 'acme account';
const KEY_PURPOSE = 'tls key';

interface KeyContext {
  store: Store;
  secrets: SecretBox;
}

/** A private key, PKCS#8 PEM, with the hash of its public key. */
export interface OpenedTlsKey {
  spki: string;
  pem: string;
  state: 'next' | 'used' | 'retired';
  createdAt: number;
  /** Time from which its TLSA record is published; null: the last look did not find it. */
  seenAt: number | null;
  /** Largest TTL of the TLSA records since then, ms. */
  seenTtl: number | null;
}

/** Opens the account at an authority; creates its key at the first call. */
export async function openAcmeAccount(
  { store, secrets }: KeyContext,
  directory: string,
): Promise<{ key: AccountKey; url: string | undefined }> {
  if ((await store.read(acmeAccount, { directory })) === undefined) {
    const sealed = secrets.seal(ACCOUNT_PURPOSE, 'acme_account', directory, Buffer.from(createAccountKey()));
    await store.write(addAcmeAccount, { directory, sealed });
  }
  const row = await store.read(acmeAccount, { directory });
  if (row === undefined) throw new Error('the key of the account was not stored');
  const pem = secrets.open(ACCOUNT_PURPOSE, 'acme_account', directory, row.sealed).toString();
  return { key: new AccountKey(pem), url: row.url ?? undefined };
}

/** Opens the keys of a certificate, the newest first. */
export async function openTlsKeys(
  { store, secrets }: KeyContext,
  name: string,
  algorithm: KeyAlgorithm,
): Promise<OpenedTlsKey[]> {
  const rows = await store.read(tlsKeys, { name, algorithm });
  return rows.map(({ sealed, ...row }) => ({
    ...row,
    pem: secrets.open(KEY_PURPOSE, 'tls_key', row.spki, sealed).toString(),
  }));
}

/** Creates the next key of a certificate, if it has none. */
export async function ensureNextKey(
  context: KeyContext,
  name: string,
  algorithm: KeyAlgorithm,
): Promise<OpenedTlsKey[]> {
  const keys = await openTlsKeys(context, name, algorithm);
  if (keys.some(({ state }) => state === 'next')) return keys;
  const pem = await createKey(algorithm);
  const spki = publicKeyHash(pem).toString('hex');
  const sealed = context.secrets.seal(KEY_PURPOSE, 'tls_key', spki, Buffer.from(pem));
  await context.store.write(addNextTlsKey, { name, algorithm, spki, sealed });
  return openTlsKeys(context, name, algorithm);
}
