import type { RecordSetChange, ZoneEntry } from './zone-entry.ts';
import type { ProviderTransport } from './transport.ts';

/** Access to one zone at a DNS provider. Methods reject with {@link DnsProviderError}. */
export interface ZoneClient {
  /** Name of the zone. */
  readonly zone: string;
  /** Lists all records at these names; may list others too. */
  list(names: readonly string[]): Promise<ZoneEntry[]>;
  /** Makes one change; all of it or nothing where the provider can. */
  change(change: RecordSetChange): Promise<void>;
}

/** A credential that a person enters. */
export interface CredentialField {
  name: string;
  label: string;
  /** True: never shown again. */
  secret: boolean;
  optional?: boolean;
}

/** Parts of the process that clients use. */
export interface ClientTools {
  transport: ProviderTransport;
  /** Waits; rejects when the signal aborts. */
  sleep: (ms: number) => Promise<void>;
  /** Milliseconds UTC. */
  clock: () => number;
  signal: AbortSignal;
  /** Opens a TCP connection for RFC 2136 to a checked address. */
  addressOf: (host: string, port: number) => Promise<string>;
}

export type Credentials = Readonly<Record<string, string>>;

/** A DNS provider that this server has a client for. */
export interface DnsProviderKind {
  readonly id: string;
  /** Its name, for people. */
  readonly title: string;
  readonly fields: readonly CredentialField[];
  /** The rights that the token needs. */
  readonly scope: string;
  /** Opens the zone of this name; undefined if the account does not have it. */
  open(zone: string, credentials: Credentials, tools: ClientTools): Promise<ZoneClient | undefined>;
}
