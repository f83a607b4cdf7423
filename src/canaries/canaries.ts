import type { SentTrip, TripOutcome } from '../../mail/agents/gate/types.ts';
import { ShownForms, type ShownSearch } from '../../mail/agents/secrets/shown-form.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { canaryForms, canaryMessages, canaryOf, type TripKind } from '../../mail/agents/canary/canary.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { freshTrips, tripCanaries } from './trip-commands.ts';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { lettersOf, normalizeText } from '../../mail/agents/secrets/plain.ts';
import { randomBytes, randomInt } from 'node:crypto';

/** Characters scanned before yielding to the event loop. */
const STRETCH = 64 * 1024;
/** Overlap of two stretches. */
const OVERLAP = 1024;

/** Finds honeytokens in the texts of a response, in linear time. */
async function honeytokensIn(answer: unknown, search: ShownSearch): Promise<string[]> {
  const found = new Set<string>();
  for (const text of stretchesOf(textsOf(answer))) {
    const plain = normalizeText(text);
    for (const kind of search.in(plain, lettersOf(plain))) found.add(kind);
    if (text.length >= STRETCH) await yieldToEventLoop();
  }
  return [...found];
}

/** Joins short texts and splits long ones. */
function* stretchesOf(texts: Iterable<string>): Generator<string> {
  let buffer = '';
  for (const text of texts) {
    buffer += `${text}\n`;
    while (buffer.length > STRETCH) {
      yield buffer.slice(0, STRETCH);
      buffer = buffer.slice(STRETCH - OVERLAP);
    }
  }
  yield buffer;
}

/** All strings in plain data. */
function* textsOf(answer: unknown): Generator<string> {
  const left: unknown[] = [answer];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') yield one;
    else if (typeof one === 'object' && one !== null) left.push(...Object.values(one));
  }
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Creates a unique text that looks like a strong password or key. */
export function newHoneytoken(form: 'password' | 'key'): string {
  if (form === 'key') return `sk_live_${letters(32)}`;
  return [letters(8), letters(8), letters(8)].join('-');
}

const ROLES = ['backup-admin', 'console', 'root-access', 'vault', 'finance-archive', 'escrow'];

/** Creates a local part that looks like that of an administrator's address. */
export function newLocalPart(): string {
  return `${ROLES[randomInt(ROLES.length)] ?? 'console'}.${randomBytes(5).toString('hex')}`;
}

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)] ?? 'x').join('');
}

interface CanariesOptions {
  store: MailStore;
  meter: Meter;
  log: Log;
  /** Key of the stored forms of honeytokens. */
  key: Uint8Array;
}

interface Trip {
  protocol: string;
  what: TripKind;
  /** Addresses. */
  about: readonly string[];
}

/** Public id of a token, or of the mailbox whose password an agent uses; undefined: a person. */
type CredentialLookup = () => Promise<string | undefined>;

/**
 * Freezes agents that touch canaries. Each promise resolves when the freeze is on disk: the request must not be answered
 * before.
 */
export class Canaries {
  readonly #store: MailStore;
  readonly #meter: Meter;
  readonly #log: Log;
  readonly #forms: ShownForms;

  constructor({ store, meter, log, key }: CanariesOptions) {
    this.#store = store;
    this.#meter = meter;
    this.#log = log;
    this.#forms = new ShownForms(key);
  }

  /** Checks messages of an account before a reader gets more than their summary. */
  async opened(
    who: CredentialLookup,
    { account, emails, protocol }: { account: number; emails: readonly number[]; protocol: string },
  ): Promise<void> {
    const canaries = await this.#store.read(canaryMessages, { account, emails });
    if (canaries.length === 0) return;
    const credential = await who();
    if (credential !== undefined) await this.#trip(credential, canaries, { protocol, what: 'opened', about: [] });
  }

  /** Scans any response before a token gets it. */
  async shown(
    credential: string,
    answer: unknown,
    { tenant, protocol }: { tenant: number; protocol: string },
  ): Promise<void> {
    const search = await this.#search(tenant);
    if (search !== undefined) await this.#found(credential, await honeytokensIn(answer, search), protocol);
  }

  /** Scans a stream of octets chunk by chunk, without decoding. */
  async *passing(
    credential: string,
    octets: AsyncIterable<Buffer>,
    { tenant, protocol }: { tenant: number; protocol: string },
  ): AsyncIterable<Buffer> {
    const search = await this.#search(tenant);
    let end = '';
    for await (const piece of octets) {
      if (search !== undefined) {
        const text = end + piece.toString('latin1');
        await this.#found(credential, await honeytokensIn(text, search), protocol);
        end = text.slice(-OVERLAP);
      }
      yield piece;
    }
  }

  async #search(tenant: number): Promise<ShownSearch | undefined> {
    const forms = await this.#store.read(canaryForms, { tenant });
    return forms.length === 0 ? undefined : this.#forms.search(forms);
  }

  async #found(credential: string, marks: readonly string[], protocol: string): Promise<void> {
    const canaries = marks.map(canaryOf).filter((id) => id !== undefined);
    if (canaries.length > 0) await this.#trip(credential, canaries, { protocol, what: 'shown', about: [] });
  }

  /** Trips canaries that an agent's outgoing mail contains. */
  sent(credential: string, { canaries, protocol, recipients }: SentTrip): Promise<TripOutcome> {
    return this.#trip(credential, canaries, { protocol, what: 'sent', about: recipients });
  }

  async #trip(credential: string, canaries: readonly number[], { protocol, what, about }: Trip): Promise<TripOutcome> {
    const fresh = await this.#store.read(freshTrips, { canaries, credential });
    if (fresh.length === 0) return 'known';
    const ids = fresh.map(({ canary }) => canary);
    const { tripped } = await this.#store.write(tripCanaries, { credential, canaries: ids, protocol, what, about });
    if (tripped === 0) return 'known';
    this.#meter.count('canary_trips_total', { what }, tripped);
    this.#log.warn({ credential, protocol, what, canaries: ids }, 'agent frozen after touching a canary');
    return 'stopped';
  }
}
