import { randomBytes } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { tlsaName } from '../certificates/dane.ts';
import type {
  DnsChange,
  DnsOutcome,
  DnsProviderState,
  DnsPublisher,
  DnsWrite,
  PublishOptions,
} from '../core/dns-publisher.ts';
import { publishedKeys } from '../domains/queries.ts';
import { asksOnce, within } from '../domains/check.ts';
import { recordServer, requiredRecords, type RequiredRecord } from '../domains/records.ts';
import { sendingServer } from '../domains/sending-server.ts';
import { ownStsPolicy } from '../domains/sts-queries.ts';
import { ownDmarcPolicy } from '../reports/policy-queries.ts';
import {
  confirmWrites,
  connectDnsProvider,
  type DnsConnection,
  dnsConnection,
  dropDnsProvider,
  dropWrites,
  recordDnsAccess,
  recordWrites,
  type StoredEntry,
  writtenEntries,
} from './commands.ts';
import { type PlanStep, planChanges, planRemoval, removedBy, type WantedRecord, type WrittenEntry } from './plan.ts';
import { recordSetsOf } from './record-sets.ts';
import { serverAddress } from './server-address.ts';
import type { ProviderTransport } from './transport.ts';
import type { ClientTools, Credentials, DnsProviderKind, ZoneClient } from './zone-client.ts';
import { DnsProviderError } from './provider-error.ts';
import { withoutCredentials } from './redact-credentials.ts';
import { reviewSpf } from './spf-review.ts';
import { isSameEntry } from './zone-entry.ts';

export interface PublisherContext {
  store: Store;
  secrets: SecretBox;
  settings: Pick<
    Settings,
    'hostname' | 'ports' | 'acme' | 'allowPrivateNetworks' | 'outboundAddresses' | 'smarthost' | 'baseUrl'
  >;
  lookNow: Resolver;
  metrics: Meter;
  clock: () => number;
  transport: ProviderTransport;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** TLSA records that the host shall have; left out: none. */
  tlsa?: () => Promise<TlsaPublication>;
}

/** `unknown`: what is there stays. */
export type TlsaPublication = { kind: 'records'; values: readonly string[] } | { kind: 'unknown' };

type NamedDomain = { id: number; name: string };

const PURPOSE = 'dns provider';
const TABLE = 'dns_provider';
/** Time limit of one access with all its requests, ms. */
const MAX_ACCESS_MS = 120_000;
/** Time limit of the lookups of an SPF record, ms. */
const MAX_REVIEW_MS = 15_000;
/** Seconds: the next key waits for two of them. */
const TLSA_TTL = 3600;
const LETS_ENCRYPT = /^https:\/\/acme(?:-staging)?-v02\.api\.letsencrypt\.org\//;

/** Publishes the records of domains at DNS providers. Work on one domain runs one after the other. */
export class DomainPublisher implements DnsPublisher {
  readonly #context: PublisherContext;
  /** End of the work that was started last, by domain. */
  readonly #busy = new Map<number, Promise<unknown>>();

  constructor(context: PublisherContext) {
    this.#context = context;
  }

  connect(
    domain: NamedDomain,
    { provider, credentials }: { provider: string; credentials: Credentials },
    write: DnsWrite,
  ): Promise<DnsOutcome<{ zone: string }>> {
    return this.#inTurn(domain.id, async () => {
      const client = await this.#find(domain.name, provider, credentials);
      const ref = randomBytes(12).toString('base64url');
      const sealed = this.#context.secrets.seal(PURPOSE, TABLE, ref, Buffer.from(JSON.stringify(credentials)));
      // A look proves that the credentials may read.
      await client.list([domain.name]);
      await write(connectDnsProvider, { domain: domain.id, provider, zone: client.zone, ref, sealed });
      return { kind: 'done', zone: client.zone };
    });
  }

  async state(domain: number): Promise<DnsProviderState | undefined> {
    const found = await this.#context.store.read(dnsConnection, { domain });
    if (found === undefined) return undefined;
    const { provider, zone, connectedAt, publishedAt, error } = found;
    return { provider, zone, connectedAt, publishedAt, error };
  }

  preview(domain: NamedDomain): Promise<DnsOutcome<{ zone: string; changes: DnsChange[] }>> {
    return this.#withClient(domain, async (client) => {
      const steps = await this.#plan(domain, client, { explain: true });
      return { kind: 'done', zone: client.zone, changes: steps.map(shown) };
    });
  }

  publish(
    domain: NamedDomain,
    write: DnsWrite,
    { onlyNew = false, mergeReports = false }: PublishOptions = {},
  ): Promise<DnsOutcome<{ zone: string; changes: DnsChange[]; lost: string[] }>> {
    return this.#withClient(domain, async (client) => {
      const all = await this.#plan(domain, client, { mergeReports });
      const written = await this.#context.store.read(writtenEntries, { domain: domain.id });
      const lost = new Map(onlyNew ? all.flatMap((step) => lostBy(step, written)) : []);
      const steps = all.filter((step) => !lost.has(step));
      const writes = steps.flatMap((step) => step.writes ?? []);
      if (writes.length > 0 || !onlyNew) await write(recordWrites, { domain: domain.id, writes });
      await this.#confirm(domain, unconfirmedOf(all, written));
      await this.#apply(domain, client, steps);
      await this.#context.store.write(recordDnsAccess, { domain: domain.id, error: null, published: true });
      return { kind: 'done', zone: client.zone, changes: steps.map(shown), lost: [...lost.values()].map(lineOf) };
    });
  }

  disconnect(
    domain: NamedDomain,
    removeRecords: boolean,
    write: DnsWrite,
  ): Promise<DnsOutcome<{ changes: DnsChange[] }>> {
    const drop = (): Promise<void> => write(dropDnsProvider, { domain: domain.id });
    if (!removeRecords) {
      return this.#inTurn<{ changes: DnsChange[] }>(domain.id, async () => {
        if ((await this.state(domain.id)) === undefined) return { kind: 'not-connected' };
        await drop();
        return { kind: 'done', changes: [] };
      });
    }
    return this.#withClient(domain, async (client) => {
      const written = await this.#context.store.read(writtenEntries, { domain: domain.id });
      const found = await client.list(written.map(({ name }) => name));
      const steps = planRemoval({ written, found });
      await this.#apply(domain, client, steps);
      await drop();
      return { kind: 'done', changes: steps.map(shown) };
    });
  }

  /** The records that a domain needs, as a text that changes with them. */
  async neededText(domain: NamedDomain): Promise<string> {
    return JSON.stringify(await this.#wanted(domain));
  }

  /** Opens the zone of a connected domain; undefined: not connected. */
  async open(domain: NamedDomain): Promise<ZoneClient | undefined> {
    const { store } = this.#context;
    const connection = await store.read(dnsConnection, { domain: domain.id });
    return connection && this.#open(connection);
  }

  /** Runs work on a domain after the work that was started before. */
  exclusively<T>(domain: number, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(domain) ?? Promise.resolve();
    const done = before.then(work, work);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#busy.set(domain, settled);
    void settled.then(() => {
      if (this.#busy.get(domain) === settled) this.#busy.delete(domain);
    });
    return done;
  }

  async #inTurn<T>(domain: number, work: () => Promise<DnsOutcome<T>>): Promise<DnsOutcome<T>> {
    try {
      return await this.exclusively(domain, work);
    } catch (error) {
      if (error instanceof DnsProviderError) return { kind: 'failed', why: error.message };
      throw error;
    }
  }

  #withClient<T>(domain: NamedDomain, work: (client: ZoneClient) => Promise<DnsOutcome<T>>): Promise<DnsOutcome<T>> {
    return this.#inTurn(domain.id, async () => {
      const { store, metrics } = this.#context;
      const connection = await store.read(dnsConnection, { domain: domain.id });
      if (connection === undefined) return { kind: 'not-connected' };
      const { provider } = connection;
      try {
        const done = await work(await this.#open(connection));
        metrics.count('dns_provider_accesses_total', { provider, outcome: 'done' });
        return done;
      } catch (error) {
        metrics.count('dns_provider_accesses_total', { provider, outcome: 'failed' });
        if (!(error instanceof DnsProviderError)) throw error;
        await store.write(recordDnsAccess, { domain: domain.id, error: error.message, published: false });
        throw error;
      }
    });
  }

  async #open({ provider, zone, ref, sealed }: DnsConnection): Promise<ZoneClient> {
    const text = this.#context.secrets.open(PURPOSE, TABLE, ref, sealed).toString();
    const credentials = JSON.parse(text) as Credentials;
    const kind = await providerOf(provider);
    const client = kind && (await kind.open(zone, credentials, this.#tools(kind, credentials)));
    if (client !== undefined) return client;
    throw new DnsProviderError(
      'rejected',
      `The zone ${zone} is not at the provider any more. Connect the domain again.`,
    );
  }

  /** Opens the zone that holds a domain: itself, or the nearest above it. */
  async #find(name: string, provider: string, credentials: Credentials): Promise<ZoneClient> {
    const kind = await providerOf(provider);
    if (kind === undefined) throw new DnsProviderError('rejected', `There is no DNS provider called ${provider}.`);
    const labels = name.split('.');
    for (let at = 0; at < labels.length - 1; at++) {
      const client = await kind.open(labels.slice(at).join('.'), credentials, this.#tools(kind, credentials));
      if (client !== undefined) return client;
    }
    const why = `${kind.title} has no zone for ${name} with these credentials. They need: ${kind.scope}.`;
    throw new DnsProviderError('refused', why);
  }

  #tools(kind: DnsProviderKind, credentials: Credentials): ClientTools {
    const { clock, sleep, lookNow, settings } = this.#context;
    const signal = AbortSignal.timeout(MAX_ACCESS_MS);
    const addressOf = (host: string, port: number): Promise<string> =>
      serverAddress({ host, port }, settings.allowPrivateNetworks, lookNow);
    const transport = withoutCredentials(this.#context.transport, kind, credentials);
    return { transport, clock, signal, sleep: (ms) => sleep(ms, signal).catch(tooLong), addressOf };
  }

  /** `explain`: also evaluates an SPF record that stays as it is. */
  async #plan(
    domain: NamedDomain,
    client: ZoneClient,
    { explain = false, mergeReports = false }: { explain?: boolean; mergeReports?: boolean },
  ): Promise<PlanStep[]> {
    const { store, settings } = this.#context;
    const wanted = await this.#wanted(domain);
    const written = await store.read(writtenEntries, { domain: domain.id });
    const found = await client.list([domain.name, ...[...wanted, ...written].map(({ name }) => name)]);
    const authority = LETS_ENCRYPT.test(settings.acme?.directory ?? '') ? 'letsencrypt.org' : undefined;
    const answering = await this.#answering(wanted, written);
    const { hostname } = settings;
    const server = sendingServer(settings);
    const { outbound } = server;
    const input = {
      wanted,
      written,
      found,
      authority,
      domain: domain.name,
      hostname,
      outbound,
      answering,
      mergeReports,
    };
    const steps = planChanges(input);
    const resolver = within(asksOnce(this.#context.lookNow), MAX_REVIEW_MS);
    return reviewSpf(steps, { resolver, domain: domain.name, server, found }, explain);
  }

  /** Names of CNAMEs that shall replace a text of ours, and whose target answers with this text. */
  async #answering(wanted: readonly WantedRecord[], written: readonly WrittenEntry[]): Promise<Set<string>> {
    const names = await Promise.all(
      wanted.map(async ({ type, name, value }) => {
        const text = written.find((one) => type === 'CNAME' && one.type === 'TXT' && one.name === name);
        if (text === undefined) return [];
        const answer = await this.#context.lookNow.txt(value);
        return answer.kind === 'found' && answer.records.includes(text.value) ? [name] : [];
      }),
    );
    return new Set(names.flat());
  }

  /** TLSA records last: a provider that has none of them gets the others first. */
  async #wanted(domain: NamedDomain): Promise<WantedRecord[]> {
    return [...(await this.#required(domain)), ...(await this.#tlsa(domain))];
  }

  /** Records of the host, in the domain that has its name. */
  async #tlsa({ id, name }: NamedDomain): Promise<WantedRecord[]> {
    const { store, settings, tlsa } = this.#context;
    const { hostname } = settings;
    if (tlsa === undefined || (hostname !== name && !hostname.endsWith(`.${name}`))) return [];
    const found = await tlsa();
    const values =
      found.kind === 'records'
        ? found.values
        : (await store.read(writtenEntries, { domain: id })).flatMap(({ type, value }) =>
            type === 'TLSA' ? [value] : [],
          );
    const head = { purpose: 'dane', type: 'TLSA', name: tlsaName(hostname), ttl: TLSA_TTL } as const;
    return values.map((value) => ({ ...head, value }));
  }

  async #required({ id, name }: NamedDomain): Promise<RequiredRecord[]> {
    const { store, settings } = this.#context;
    const keys = await store.read(publishedKeys, { domain: id });
    const sts = await store.read(ownStsPolicy, { domain: id });
    const dmarc = await store.read(ownDmarcPolicy, { domain: id });
    return requiredRecords({ id, name, keys, sts, dmarc }, recordServer(settings));
  }

  async #confirm(domain: NamedDomain, entries: readonly WrittenEntry[]): Promise<void> {
    if (entries.length > 0) await this.#context.store.write(confirmWrites, { domain: domain.id, entries });
  }

  async #apply(domain: NamedDomain, client: ZoneClient, steps: readonly PlanStep[]): Promise<void> {
    for (const { change, steps: made } of recordSetsOf(steps)) {
      await client.change(change);
      await this.#confirm(
        domain,
        made.flatMap(({ writes }) => writes ?? []),
      );
      const entries = made.flatMap(removedBy);
      if (entries.length > 0) await this.#context.store.write(dropWrites, { domain: domain.id, entries });
    }
  }
}

function tooLong(cause: unknown): never {
  const message = 'The DNS provider did not finish in time, as it demanded waits. Try again later.';
  throw new DnsProviderError('limited', message, { cause });
}

/** Loads the clients at first use: few servers need them. */
async function providerOf(id: string): Promise<DnsProviderKind | undefined> {
  return (await import('./providers.ts')).findProvider(id);
}

/** Records that the provider has although the publication was cut before it could be recorded. */
function unconfirmedOf(steps: readonly PlanStep[], written: readonly StoredEntry[]): StoredEntry[] {
  const there = steps.filter(({ action }) => action === 'keep');
  return written.filter(
    (one) =>
      !one.confirmed && there.some(({ type, name, before }) => isSameEntry({ type, name, value: before ?? '' }, one)),
  );
}

/** The record that the provider had, if it is not there any more or has another value. */
function lostBy(step: PlanStep, written: readonly StoredEntry[]): [PlanStep, StoredEntry][] {
  const { action, type, name, value, writes } = step;
  if (action === 'keep' || value === null) return [];
  const entry = writes ?? { type, name, value };
  // A suggestion has the record of others, with our address: ours is what was there before.
  const isMeant = (one: StoredEntry): boolean =>
    action === 'suggest' ? one.type === type && one.name === name : isSameEntry(one, entry);
  const found = written.find((one) => one.confirmed && isMeant(one));
  return found === undefined ? [] : [[step, found]];
}

const lineOf = ({ type, name, value }: StoredEntry): string => `${type} ${name} ${value}`;

function shown({ action, type, name, value, before, why }: PlanStep): DnsChange {
  return { action, type, name, value, before, why };
}
