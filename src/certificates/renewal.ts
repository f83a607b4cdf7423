import type { Job } from '../../mail/jobs/scheduler.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { Lookup, Resolver, TlsaRecord } from '../../mail/dns/lookup.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { listDomains } from '../../mail/store/address/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { AcmeClient } from '../acme/acme-client.ts';
import { AcmeProblem, NamesRefused } from '../acme/acme-error.ts';
import type { ChallengeAnswers, TxtPublisher } from '../acme/challenge-answers.ts';
import { certificateRequest, KEY_ALGORITHMS, type KeyAlgorithm } from '../acme/key-pair.ts';
import { type ChallengeType, orderCertificate } from '../acme/order.ts';
import { certificateId, renewalWindow } from '../acme/renewal-info.ts';
import type { AcmeTransport } from '../acme/transport.ts';
import { checkChain } from './chain.ts';
import {
  clearOrderFailure,
  dropCertificate,
  type IssuedCertificate,
  purgeTlsKeys,
  recordOrderFailure,
  setAcmeAccountUrl,
  setRenewalTime,
  storeCertificate,
} from './commands.ts';
import { keyForRenewal } from './key-choice.ts';
import { NextKeyWatch } from './next-key-watch.ts';
import { PointingNames, type WantedCertificate } from './names.ts';
import {
  type FailedName,
  type FailedOrder,
  failedNames,
  failedOrders,
  type StoredCertificate,
  storedCertificates,
} from './queries.ts';
import { pauseAfter, renewalTime, timeWithin } from './schedule.ts';
import { ensureNextKey, type OpenedTlsKey, openAcmeAccount, openTlsKeys } from './sealed-keys.ts';
import { challengeSolver } from './solver.ts';

export interface RenewalContext {
  store: Store;
  secrets: SecretBox;
  resolver: Resolver;
  log: Log;
  metrics: Meter;
  clock: () => number;
  transport: AcmeTransport;
  answers: ChallengeAnswers;
  publishers: readonly TxtPublisher[];
  settings: {
    hostname: string;
    baseUrl: string | undefined;
    acme: { email: string; directory: string; challenge: ChallengeType | 'auto'; rsa: boolean };
  };
  http: boolean;
  https: boolean;
  /** True for names that the operator's own certificate files cover. */
  covered: (name: string) => boolean;
  /** TLSA records of the MX listener. */
  tlsa: () => Promise<Lookup<TlsaRecord>>;
  /** Called after the stored certificates changed; resolves when all listeners use them. */
  changed: () => Promise<void>;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  random: () => number;
  /** Pause after failures, ms; another one in tests. */
  pause?: typeof pauseAfter;
  /** Interval of the job, and of polls of the authority, ms; others in tests. */
  everyMs?: number;
  pollMs?: number;
}

/** A certificate and key algorithm of which the state is known. */
interface RenewalCase {
  wanted: WantedCertificate;
  algorithm: KeyAlgorithm;
  stored: StoredCertificate | undefined;
  failed: FailedOrder | undefined;
}

const MINUTE_MS = 60_000;
/** Orders in three hours: an authority allows 300 of an account. */
const MAX_ORDERS = 200;
const ORDERS_MS = 3 * 3_600_000;
/** Longest pause for all orders that an authority demands at once, ms. */
const MAX_GLOBAL_PAUSE_MS = 3_600_000;

/** Obtains and renews certificates: one for the host, and one for each hosted domain, so that no domain fails others. */
export class CertificateRenewal implements Job {
  readonly name = 'certificates';
  readonly everyMs: number;
  readonly firstMs = 500;
  readonly backoffMs = 5 * MINUTE_MS;
  readonly #context: RenewalContext;
  readonly #names: PointingNames;
  readonly #nextKeys: NextKeyWatch;
  #client: AcmeClient | undefined;
  #orders: number[] = [];
  /** The authority accepts no orders until then. */
  #pausedUntil = 0;

  constructor(context: RenewalContext) {
    this.#context = context;
    this.everyMs = context.everyMs ?? MINUTE_MS;
    const { resolver, clock, settings } = context;
    this.#names = new PointingNames({ resolver, clock, hostname: settings.hostname });
    this.#nextKeys = new NextKeyWatch({ ...context, hostname: settings.hostname });
  }

  async run(stop: AbortSignal): Promise<void> {
    const { store } = this.#context;
    await store.write(purgeTlsKeys, undefined);
    await this.#nextKeys.look();
    const wanted = await this.#wanted();
    const [all, failures] = [
      await store.read(storedCertificates, undefined),
      await store.read(failedOrders, undefined),
    ];
    await this.#dropUnwanted(wanted, all, failures);
    for (const one of wanted) {
      for (const algorithm of this.#algorithms(one)) {
        if (stop.aborted) return;
        const isSame = (row: { name: string; algorithm: string }): boolean =>
          row.name === one.name && row.algorithm === algorithm;
        await this.#renew({ wanted: one, algorithm, stored: all.find(isSame), failed: failures.find(isSame) }, stop);
      }
    }
  }

  /** RSA for the host only: what fetches the documents of hosted domains is newer than ECDSA. */
  #algorithms({ name }: WantedCertificate): readonly KeyAlgorithm[] {
    const { acme, hostname } = this.#context.settings;
    return acme.rsa && name === hostname ? KEY_ALGORITHMS : ['ecdsa'];
  }

  /** The host first. A domain without a name that points here has no certificate. */
  async #wanted(): Promise<WantedCertificate[]> {
    const { store, settings, covered } = this.#context;
    const { hostname, baseUrl } = settings;
    const portal = baseUrl === undefined ? hostname : new URL(baseUrl).hostname;
    const own = [...new Set([hostname, portal])].filter((name) => !covered(name) && name.includes('.'));
    const hosted = (await store.read(listDomains, undefined)).filter(
      ({ verified, name }) => verified && name !== hostname,
    );
    const wanted: WantedCertificate[] = own.length === 0 ? [] : [{ name: hostname, dnsNames: own }];
    for (const { name } of hosted) {
      const dnsNames = (await this.#names.of(name)).filter((one) => !covered(one) && !own.includes(one));
      if (dnsNames.length > 0) wanted.push({ name, dnsNames });
    }
    return wanted;
  }

  /** Drops certificates of removed domains; one whose names only left for a while stays until it expires. */
  async #dropUnwanted(
    wanted: readonly WantedCertificate[],
    stored: readonly StoredCertificate[],
    failed: readonly FailedOrder[],
  ): Promise<void> {
    const { store, clock } = this.#context;
    const needed = new Set(wanted.map(({ name }) => name));
    const valid = new Set(stored.filter(({ notAfter }) => notAfter > clock()).map(({ name }) => name));
    const known = new Set([...stored, ...failed].map(({ name }) => name));
    for (const name of known) {
      if (needed.has(name) || valid.has(name)) continue;
      await store.write(dropCertificate, { name });
      await this.#context.changed();
    }
  }

  async #renew(one: RenewalCase, stop: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#context;
    const { wanted, algorithm, stored, failed } = one;
    const now = clock();
    if (this.#pausedUntil > now || (failed !== undefined && failed.retryAt > now)) return;
    const refused = await store.read(failedNames, undefined);
    const names = orderableNames(wanted.dnsNames, refused, now);
    if (names.length === 0) return;
    if (!(await this.#isDue(stored, names, stop))) {
      if (failed !== undefined) await store.write(clearOrderFailure, { name: wanted.name, algorithm });
      return;
    }
    if (!this.#takeOrder(now)) return;
    try {
      await this.#order(one, names, refused, stop);
    } catch (error) {
      if (stop.aborted) return;
      await this.#recordFailure(one, error, refused);
      log.warn({ certificate: wanted.name, algorithm, err: error }, 'failed to get a certificate, will retry');
    }
  }

  async #isDue(stored: StoredCertificate | undefined, names: readonly string[], stop: AbortSignal): Promise<boolean> {
    if (stored === undefined || names.some((name) => !stored.names.includes(name))) return true;
    const now = this.#context.clock();
    if (stored.windowAt > now) return stored.renewAt <= now;
    return (await this.#suggestedTime(stored, stop)) <= now;
  }

  /** Asks the authority when to renew; without an answer the known time stays. RFC 9773 4.3. */
  async #suggestedTime(stored: StoredCertificate, stop: AbortSignal): Promise<number> {
    const { store, clock, random, log } = this.#context;
    const { name, algorithm, renewAt: before } = stored;
    const now = clock();
    try {
      const client = await this.#open();
      const window = await renewalWindow(client, stored.chain, now, stop);
      const kept = window !== undefined && stored.renewAt >= window.start && stored.renewAt <= window.end;
      const renewAt =
        window === undefined || kept ? stored.renewAt : Math.min(timeWithin(window, random(), now), stored.notAfter);
      const windowAt = window?.nextAt ?? now + 24 * 60 * MINUTE_MS;
      await store.write(setRenewalTime, { name, algorithm, before, renewAt, windowAt });
      return renewAt;
    } catch (error) {
      log.debug({ certificate: name, err: error }, 'failed to query the renewal window');
      await store.write(setRenewalTime, { name, algorithm, before, renewAt: before, windowAt: now + 60 * MINUTE_MS });
      return stored.renewAt;
    }
  }

  async #order(
    { wanted, algorithm, stored }: RenewalCase,
    names: readonly string[],
    refused: readonly FailedName[],
    stop: AbortSignal,
  ): Promise<void> {
    const { store, settings, log, metrics } = this.#context;
    const client = await this.#open();
    const key = await this.#key(wanted.name, algorithm);
    const replaces = stored === undefined ? undefined : certificateId(stored.chain);
    const solver = challengeSolver({ ...this.#context, only: settings.acme.challenge }, (name) => {
      return refused.find(({ dnsName }) => dnsName === name)?.failures ?? 0;
    });
    const csr = (): Promise<Uint8Array> => certificateRequest(key.pem, algorithm, names);
    const { pollMs } = this.#context;
    const order = { names, csr, solver, ...(replaces && { replaces }), ...(pollMs && { pollMs }) };
    const issued = this.#checked(await orderCertificate(client, order, stop), key, { wanted, algorithm, names });
    await store.write(storeCertificate, issued);
    await this.#context.changed();
    // The next key has its TLSA record from now on, long before it is used.
    if (wanted.name === settings.hostname) await ensureNextKey(this.#context, wanted.name, algorithm);
    metrics.count('certificate_orders_total', { outcome: 'issued' });
    const until = new Date(issued.notAfter).toISOString();
    log.info({ certificate: wanted.name, algorithm, names, until }, 'certificate issued');
  }

  #checked(
    chain: string,
    key: OpenedTlsKey,
    { wanted, algorithm, names }: Pick<RenewalCase, 'wanted' | 'algorithm'> & { names: readonly string[] },
  ): IssuedCertificate {
    const { clock, random } = this.#context;
    const facts = checkChain(chain, key.pem, names, clock());
    const renewAt = renewalTime(facts, random());
    return { ...facts, name: wanted.name, algorithm, names, spki: key.spki, renewAt, windowAt: clock() };
  }

  /** The host keeps its key while a DANE sender would refuse another; the certificate of a domain has a new one each time. */
  async #key(name: string, algorithm: KeyAlgorithm): Promise<OpenedTlsKey> {
    const { settings, clock } = this.#context;
    await ensureNextKey(this.#context, name, algorithm);
    const none = { kind: 'none' as const, nx: true };
    const found = name === settings.hostname ? await this.#nextKeys.lookNow() : none;
    const keys = await openTlsKeys(this.#context, name, algorithm);
    const key = keyForRenewal(keys, found, clock());
    if (key === undefined) throw new Error('the next key was not stored');
    return key;
  }

  async #recordFailure(one: RenewalCase, error: unknown, refused: readonly FailedName[]): Promise<void> {
    const { store, clock, random, metrics, pause = pauseAfter } = this.#context;
    const { wanted, algorithm, failed } = one;
    const now = clock();
    const demanded = error instanceof AcmeProblem ? error.retryAfterMs : undefined;
    if (demanded !== undefined) this.#pausedUntil = now + Math.min(demanded, MAX_GLOBAL_PAUSE_MS);
    const names = error instanceof NamesRefused ? error.names : [];
    // The others are ordered without the refused ones soon, which have pauses of their own.
    const others = names.length > 0 && names.length < wanted.dnsNames.length;
    const retryAt =
      now + (others ? Math.min(MINUTE_MS, this.everyMs) : pause((failed?.failures ?? 0) + 1, demanded, random()));
    metrics.count('certificate_orders_total', { outcome: 'failed' });
    await store.write(recordOrderFailure, {
      name: wanted.name,
      algorithm,
      error: `${(error as Error).message}${this.#clockHint()}`,
      retryAt,
      refused: names.map(({ name, challenge, why }) => {
        const failures = (refused.find((row) => row.dnsName === name)?.failures ?? 0) + 1;
        return { dnsName: name, error: `${challenge}: ${why}`, retryAt: now + pause(failures, demanded, random()) };
      }),
    });
  }

  #clockHint(): string {
    const minutes = Math.round((this.#client?.skewMs ?? 0) / MINUTE_MS);
    if (Math.abs(minutes) < 5) return '';
    return `; the clock of this machine is ${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'} the authority's`;
  }

  /** Counts an order; false when too many were made. */
  #takeOrder(now: number): boolean {
    this.#orders = this.#orders.filter((at) => at > now - ORDERS_MS);
    if (this.#orders.length >= MAX_ORDERS) return false;
    this.#orders.push(now);
    return true;
  }

  async #open(): Promise<AcmeClient> {
    if (this.#client !== undefined) return this.#client;
    const { store, settings, transport, clock, sleep, pollMs } = this.#context;
    const { directory, email } = settings.acme;
    const { key, url } = await openAcmeAccount(this.#context, directory);
    this.#client = new AcmeClient({
      directoryUrl: directory,
      key,
      account: url,
      contact: email,
      transport,
      clock,
      sleep,
      ...(pollMs && { retryMs: pollMs }),
      registered: (account) => store.write(setAcmeAccountUrl, { directory, url: account }),
    });
    return this.#client;
  }
}

/** Leaves out names that were refused a short time ago. */
function orderableNames(names: readonly string[], refused: readonly FailedName[], now: number): string[] {
  return names.filter((name) => !refused.some((one) => one.dnsName === name && one.retryAt > now));
}
