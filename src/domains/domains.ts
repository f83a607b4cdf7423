import { dkimRecord, type DkimAlgorithm, makeDkimKey, readDkimKey } from '../../mail/auth/dkim-key.ts';
import type { Log } from '../../mail/log.ts';
import { parseDomain } from '../../mail/message/address.ts';
import type { SigningKey } from '../../mail/relay/needs.ts';
import { dkimKeys, type DkimKeyRow } from '../../mail/store/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import { addKeys, type NewKey, setUpDomain } from './commands.ts';
import { publishedKeys } from './queries.ts';

/** Two algorithms, for verifiers that know only one of them (RFC 8463 3); two selectors each, so that keys can change. */
export const SELECTORS: Readonly<Record<DkimAlgorithm, readonly [string, string]>> = {
  'rsa-sha256': ['ms1', 'ms3'],
  'ed25519-sha256': ['ms2', 'ms4'],
};
/** The purpose under which DKIM keys are sealed; the row is (dkim_key, `<domain id>/<selector>`). */
export const DKIM_PURPOSE = 'dkim key';

export interface DomainContext {
  store: Store;
  secrets: SecretBox;
  log: Log;
}

export type Onboarded =
  | { kind: 'added' | 'exists'; id: number; name: string }
  /** Another tenant proved that the domain is its own. */
  | { kind: 'taken' }
  /** Too many names of this tenant wait to be proved. */
  | { kind: 'too-many' }
  | { kind: 'bad-name' };

/**
 * Makes a domain known, with the keys that sign its mail; without a project it goes into the tenant's first. Idempotent,
 * so that a start that was cut short is mended by the next one.
 */
export async function onboardDomain(
  { store, secrets, log }: DomainContext,
  input: { tenant: number; name: string; verified: boolean; project?: number },
): Promise<Onboarded> {
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

/** A name that mail can be hosted under, in A-labels: no address literal, and not a whole top-level domain. */
export function hostableName(text: string): string | undefined {
  const name = parseDomain(text);
  return name === undefined || name.startsWith('[') || !name.includes('.') ? undefined : name;
}

/** New key pairs, sealed for their rows. */
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

const KEEP_MS = 60_000;
const MAX_KEPT = 1_000;

interface OpenedKey {
  /** Whose the domain is. */
  tenant: number;
  key: SigningKey;
}

/** Opens the keys that sign for a domain, and keeps them for a minute: a busy queue asks for every message. */
export class SigningKeys {
  readonly #context: Pick<DomainContext, 'store' | 'secrets'>;
  readonly #clock: () => number;
  readonly #kept = new Map<string, { until: number; keys: Promise<OpenedKey[]> }>();

  /** `clock` gives ms UTC. */
  constructor(context: Pick<DomainContext, 'store' | 'secrets'>, clock: () => number) {
    this.#context = context;
    this.#clock = clock;
  }

  /**
   * None when the domain is not ours, not proved, or has no keys. Rejects when a key does not open, and when they are not
   * those of the tenant that is named.
   */
  async of(domain: string, tenant?: number): Promise<SigningKey[]> {
    const opened = await this.#opened(domain);
    if (tenant !== undefined && opened.some((one) => one.tenant !== tenant)) {
      throw new Error(`the keys of ${domain} are somebody else's by now`);
    }
    return opened.map(({ key }) => key);
  }

  #opened(domain: string): Promise<OpenedKey[]> {
    const now = this.#clock();
    const kept = this.#kept.get(domain);
    if (kept !== undefined && kept.until > now) return kept.keys;
    // Domains come from envelope senders, so there may be any number of them over the years.
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const keys = this.#read(domain);
    this.#kept.set(domain, { until: now + KEEP_MS, keys });
    keys.catch(() => this.#kept.delete(domain)); // a failure is not remembered
    return keys;
  }

  /** After a rotation, or when a domain was proved. */
  forget(domain: string): void {
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
