import { dkimRecord, type DkimAlgorithm, makeDkimKey, readDkimKey } from '../../mail/auth/dkim-key.ts';
import { lruMap } from '../../mail/limits/lru-map.ts';
import type { Log } from '../../mail/log.ts';
import { parseDomain } from '../../mail/message/address.ts';
import type { SigningKey } from '../../mail/relay/relay-queue.ts';
import { dkimKeys, type DkimKeyRow } from '../../mail/store/address/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { addKeys, type NewKey, setUpDomain } from './commands.ts';
import { publishedKeys } from './queries.ts';

/** Two algorithms, as some verifiers know only one (RFC 8463 3); two selectors each, for rotation. */
export const SELECTORS: Readonly<Record<DkimAlgorithm, readonly [string, string]>> = {
  'rsa-sha256': ['ms1', 'ms3'],
  'ed25519-sha256': ['ms2', 'ms4'],
};

/** The selector of each algorithm that no key uses; none for an algorithm while both are published. */
export function freeSelectors(keys: readonly { selector: string }[]): { algorithm: DkimAlgorithm; selector: string }[] {
  return Object.entries(SELECTORS).flatMap(([algorithm, pair]) => {
    const selector = pair.find((one) => !keys.some((key) => key.selector === one));
    return selector === undefined ? [] : [{ algorithm: algorithm as DkimAlgorithm, selector }];
  });
}

/** Purpose of sealed DKIM keys; the row is (dkim_key, `<domain id>/<selector>`). */
export const DKIM_PURPOSE = 'dkim key';

export interface DomainContext {
  store: Store;
  secrets: SecretBox;
  log: Log;
}

export type OnboardDomainResult =
  | { kind: 'added' | 'exists'; id: number; name: string }
  /** Another tenant has verified the domain. */
  | { kind: 'taken' }
  /** Too many unverified domains of this tenant. */
  | { kind: 'too-many' }
  | { kind: 'bad-name' };

/**
 * Adds a domain with its signing keys; without a project it goes into the tenant's first. Idempotent, so that the next start
 * completes an interrupted one.
 */
export async function onboardDomain(
  { store, secrets, log }: DomainContext,
  input: { tenant: number; name: string; verified: boolean; project?: number },
): Promise<OnboardDomainResult> {
  const name = hostableName(input.name);
  if (name === undefined) return { kind: 'bad-name' };
  const added = await store.write(setUpDomain, { ...input, name, project: input.project ?? null });
  if (added.kind === 'taken' || added.kind === 'too-many') return added;
  if ((await store.read(publishedKeys, { domain: added.id })).length === 0) {
    const first = Object.entries(SELECTORS).map(([algorithm, [selector]]) => ({
      algorithm: algorithm as DkimAlgorithm,
      selector,
    }));
    const keys = await makeKeys(secrets, added.id, first);
    await store.write(addKeys, { domain: added.id, keys, sign: 1 });
  }
  if (added.kind === 'added') log.info({ domain: name, verified: input.verified }, 'domain added');
  return { ...added, name };
}

/** Normalizes a name that can host mail to A-labels: no address literal, no top-level domain. */
export function hostableName(text: string): string | undefined {
  const name = parseDomain(text);
  return name === undefined || name.startsWith('[') || !name.includes('.') ? undefined : name;
}

/** Creates key pairs, sealed for their rows. */
export function makeKeys(
  secrets: SecretBox,
  domain: number,
  wanted: readonly { algorithm: DkimAlgorithm; selector: string }[],
): Promise<NewKey[]> {
  return Promise.all(
    wanted.map(async ({ algorithm, selector }) => {
      const pem = await makeDkimKey(algorithm);
      const sealed = secrets.seal(DKIM_PURPOSE, 'dkim_key', `${domain}/${selector}`, Buffer.from(pem));
      return { algorithm, selector, sealed, public: dkimRecord(readDkimKey(pem)) };
    }),
  );
}

const CACHE_MS = 60_000;
/** Cached domains: they come from envelope senders, so there may be any number over the years. */
const MAX_CACHED = 1_000;

interface OpenedKey {
  /** Tenant of the domain. */
  tenant: number;
  key: SigningKey;
}

/** Opens signing keys and caches them for a minute: a busy queue needs them for every message. */
export class SigningKeys {
  readonly #context: Pick<DomainContext, 'store' | 'secrets'>;
  readonly #clock: () => number;
  readonly #kept = lruMap<string, { until: number; keys: Promise<OpenedKey[]> }>(MAX_CACHED);

  /** `clock` gives ms UTC. */
  constructor(context: Pick<DomainContext, 'store' | 'secrets'>, clock: () => number) {
    this.#context = context;
    this.#clock = clock;
  }

  /**
   * Signing keys of a domain; empty if it is unknown, unverified, or has none. Rejects if a key cannot be opened, or belongs to
   * another tenant than the given one.
   */
  async of(domain: string, tenant?: number): Promise<SigningKey[]> {
    const opened = await this.#opened(domain);
    if (tenant !== undefined && opened.some((one) => one.tenant !== tenant)) {
      throw new Error(`the keys of ${domain} belong to another tenant now`);
    }
    return opened.map(({ key }) => key);
  }

  #opened(domain: string): Promise<OpenedKey[]> {
    const now = this.#clock();
    const kept = this.#kept.get(domain);
    if (kept !== undefined && kept.until > now) return kept.keys;
    const keys = this.#read(domain);
    this.#kept.set(domain, { until: now + CACHE_MS, keys });
    keys.catch(() => this.#kept.delete(domain)); // failures are not cached
    return keys;
  }

  /** Evicts keys after a rotation or verification. */
  evict(domain: string): void {
    this.#kept.delete(domain);
  }

  async #read(name: string): Promise<OpenedKey[]> {
    const rows = await this.#context.store.read(dkimKeys, { name });
    return rows.map((row) => ({ tenant: row.tenant, key: this.#open(name, row) }));
  }

  #open(domain: string, row: DkimKeyRow): SigningKey {
    const { secrets } = this.#context;
    const pem = secrets.open(DKIM_PURPOSE, 'dkim_key', `${row.domain}/${row.selector}`, row.sealed);
    return {
      domain,
      selector: row.selector,
      algorithm: row.algorithm as DkimAlgorithm,
      key: readDkimKey(pem.toString()),
    };
  }
}
