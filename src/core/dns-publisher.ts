import type { Command } from '../../mail/store/engine/types.ts';

/** One line of a plan for the records of a domain at its DNS provider. */
export interface DnsChange {
  /** `keep`, `conflict` and `suggest` (a merge that somebody has to choose) change nothing. */
  action: 'create' | 'replace' | 'merge' | 'restore' | 'delete' | 'keep' | 'conflict' | 'suggest';
  type: string;
  name: string;
  /** Value afterwards; null: none. */
  value: string | null;
  /** Value before, or the one in conflict. */
  before: string | null;
  /** Reason and next step. */
  why: string | null;
}

/** Runs a command, with an audit row if a caller requested it. */
export type DnsWrite = <I, O>(what: Command<I, O>, input: I) => Promise<O>;

/** State of the connection of a domain to its DNS provider. Times are ms UTC. */
export interface DnsProviderState {
  provider: string;
  zone: string;
  connectedAt: number;
  publishedAt: number | null;
  /** Reason why the last access failed; null: it did not. */
  error: string | null;
}

export interface PublishOptions {
  /** Writes nothing that was written before and disappeared or changed since, which is `lost`. */
  onlyNew?: boolean;
  /** Adds this server to DMARC and TLS-RPT records of others, for their reports. */
  mergeReports?: boolean;
}

export type DnsOutcome<T> = ({ kind: 'done' } & T) | { kind: 'not-connected' } | { kind: 'failed'; why: string };

/** Publishes the records of domains at DNS providers. Work on one domain runs one after the other. */
export interface DnsPublisher {
  /** Connects a domain after a look at its zone; replaces an earlier connection. */
  connect(
    domain: { id: number; name: string },
    given: { provider: string; credentials: Readonly<Record<string, string>> },
    write: DnsWrite,
  ): Promise<DnsOutcome<{ zone: string }>>;
  state(domain: number): Promise<DnsProviderState | undefined>;
  /** Returns what a publication would change. */
  preview(domain: { id: number; name: string }): Promise<DnsOutcome<{ zone: string; changes: DnsChange[] }>>;
  /** Makes the changes. */
  publish(
    domain: { id: number; name: string },
    write: DnsWrite,
    options?: PublishOptions,
  ): Promise<DnsOutcome<{ zone: string; changes: DnsChange[]; lost: string[] }>>;
  /** Deletes the connection, with `removeRecords` after the removal of what this server wrote. */
  disconnect(
    domain: { id: number; name: string },
    removeRecords: boolean,
    write: DnsWrite,
  ): Promise<DnsOutcome<{ changes: DnsChange[] }>>;
}
