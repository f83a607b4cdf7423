import type { Lookup, TlsaRecord } from '../../mail/dns/lookup.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { recordKeySeen } from './commands.ts';
import { isRecordOf } from './key-choice.ts';
import { type NextKey, nextTlsKeys } from './queries.ts';

interface NextKeyContext {
  store: Store;
  clock: () => number;
  hostname: string;
  /** TLSA records of the MX listener. */
  tlsa: () => Promise<Lookup<TlsaRecord>>;
}

const LOOK_MS = 10 * 60_000;
const SECOND_MS = 1000;

/**
 * Looks if the TLSA records of the next keys are published. The time before such a key may be used counts from the first look
 * that found its record, and anew after a look that did not: caches fill with what is published, not with what was created.
 */
export class NextKeyWatch {
  readonly #context: NextKeyContext;
  #nextAt = 0;

  constructor(context: NextKeyContext) {
    this.#context = context;
  }

  /** Looks if the last look was ten minutes ago and there is a next key. */
  async look(): Promise<void> {
    const { store, clock, hostname } = this.#context;
    if (clock() < this.#nextAt) return;
    if ((await store.read(nextTlsKeys, { name: hostname })).length > 0) await this.lookNow();
  }

  /** Looks, and records what was found. A lookup that fails changes nothing. */
  async lookNow(): Promise<Lookup<TlsaRecord>> {
    const { store, clock, hostname, tlsa } = this.#context;
    const found = await tlsa();
    const now = clock();
    this.#nextAt = now + LOOK_MS;
    if (found.kind === 'trouble') return found;
    const records = found.kind === 'found' ? found.records : [];
    for (const key of await store.read(nextTlsKeys, { name: hostname })) {
      const seen = afterLook(key, records, now);
      if (seen.seenAt !== key.seenAt || seen.seenTtl !== key.seenTtl) await store.write(recordKeySeen, seen);
    }
    return found;
  }
}

function afterLook({ spki, seenAt, seenTtl }: NextKey, records: readonly TlsaRecord[], now: number): NextKey {
  if (!records.some((record) => isRecordOf(record, spki))) return { spki, seenAt: null, seenTtl: null };
  // An answer from a cache has what is left of the TTL.
  const ttl = Math.max(seenTtl ?? 0, ...records.map((record) => (record.ttl ?? 0) * SECOND_MS));
  return { spki, seenAt: seenAt ?? now, seenTtl: ttl };
}
