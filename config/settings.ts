import * as parse from './parse.ts';
import type { Parse } from './parse.ts';

/**
 * One setting. A default is written as in the environment and parsed like it; undefined means unset. Names are without
 * MAILSTEAD_.
 */
interface Setting<T> {
  parse: Parse<T>;
  local?: string;
  /** When it differs from `local`. */
  live?: string;
  /** Its part is not there yet: nothing but this value, or nothing at all, is accepted. */
  notYet?: string | true;
  /** Never shown in a sentence about a bad value. */
  secret?: true;
}

const define = <T>(setting: Setting<T>): Setting<T> => setting;

/** Every setting there is. config/example.env explains them; a test compares the two. */
export const SETTINGS = {
  DATA_DIR: define({ parse: parse.text, local: './data' }),
  HOSTNAME: define({ parse: parse.hostName }),
  BASE_URL: define({ parse: parse.baseUrl }),
  LISTEN: define({ parse: parse.addresses, local: '127.0.0.1', live: '0.0.0.0,::' }),
  HTTP_PORT: define({ parse: parse.port, local: '8080', live: '80' }),
  HTTPS_PORT: define({ parse: parse.port, local: '8443', live: '443' }),
  SMTP_PORT: define({ parse: parse.port, local: '2525', live: '25' }),
  SUBMISSION_PORT: define({ parse: parse.port, local: '2587', live: '587' }),
  SUBMISSIONS_PORT: define({ parse: parse.port, local: '2465', live: '465' }),
  IMAP_PORT: define({ parse: parse.port, local: '2143', live: '143' }),
  IMAPS_PORT: define({ parse: parse.port, local: '2993', live: '993' }),
  DNS_PORT: define({ parse: parse.port, local: 'off' }),
  RESOLVERS: define({ parse: parse.resolvers }),
  DNSSEC: define({ parse: parse.oneOf('auto', 'on', 'off'), local: 'auto' }),
  OUTBOUND_PORT: define({ parse: parse.remotePort, local: '25' }),
  OUTBOUND_ADDRESSES: define({ parse: parse.outboundAddresses }),
  OUTBOUND_HOSTNAME: define({ parse: parse.hostName }),
  ALLOW_PRIVATE_NETWORKS: define({ parse: parse.privateNetworks, local: 'true', live: 'false' }),
  EXEMPT_NETWORKS: define({ parse: parse.networks }),
  TLS_CERT: define({ parse: parse.text }),
  TLS_KEY: define({ parse: parse.text }),
  ACME_EMAIL: define({ parse: parse.text, notYet: true }),
  ACME_DIRECTORY: define({ parse: parse.text, notYet: true }),
  SMARTHOST: define({ parse: parse.smarthost, secret: true }),
  SMARTHOST_PASSWORD_FILE: define({ parse: parse.text }),
  SMARTHOST_USE: define({ parse: parse.oneOf('always', 'failover'), local: 'always' }),
  TRUST_PROXY: define({ parse: parse.networks }),
  BOOTSTRAP: define({ parse: parse.oneOf('open', 'invite', 'off'), local: 'open' }),
  UNCLAIMED_SENDING: define({ parse: parse.oneOf('open', 'owner'), local: 'open' }),
  MAILBOX_DAILY: define({ parse: parse.between(0, 1_000_000), local: '1000' }),
  MAILBOX_NEW_RECIPIENTS: define({ parse: parse.between(0, 1_000_000), local: '200' }),
  ORGANIZATION_DAILY: define({ parse: parse.between(0, 100_000_000), local: '10000' }),
  KEY_PER_SECOND: define({ parse: parse.between(0, 1_000), local: '10' }),
  PAUSE_SENDERS: define({ parse: parse.oneOf('on', 'off'), local: 'on' }),
  BILLING_SETUP_URL: define({ parse: parse.webUrl }),
  TOKEN_PREFIX: define({ parse: parse.tokenPrefix, local: 'mst' }),
  LOCAL_PASSWORD: define({ parse: parse.password, secret: true }),
  KEY_FILE: define({ parse: parse.text }),
  MAX_MESSAGE_BYTES: define({ parse: parse.between(1024, 268_435_456), local: '26214400' }),
  DNSBL: define({ parse: parse.dnsLists, local: 'off', live: 'bl.spamcop.net,psbl.surriel.com' }),
  URIBL: define({ parse: parse.dnsLists, local: 'off' }),
  GREYLIST: define({ parse: parse.oneOf('on', 'off'), local: 'off' }),
  SPAM_CHECKS: define({ parse: parse.oneOf('on', 'off'), local: 'on' }),
  TRUSTED_SEALERS: define({ parse: parse.domains }),
  RSPAMD_URL: define({ parse: parse.rspamd, secret: true }),
  CLAMAV: define({ parse: parse.clamav }),
  DATABASE_URL: define({ parse: parse.text, notYet: true, secret: true }),
  BLOB_URL: define({ parse: parse.text, notYet: true, secret: true }),
  LOG_LEVEL: define({ parse: parse.oneOf('trace', 'debug', 'info', 'warn', 'error'), local: 'info' }),
  LOG_FORMAT: define({ parse: parse.oneOf('pretty', 'json') }),
} as const;

export type SettingName = keyof typeof SETTINGS;

/** What the process needs before its database opens, or what belongs to the machine. Paths are absolute. */
export interface Settings {
  /** The public name is set. */
  readonly live: boolean;
  readonly dataDir: string;
  /** The public name; `box.test` in local mode. */
  readonly hostname: string;
  /** Without a slash at the end. Undefined in local mode: http://127.0.0.1 and the HTTP port that was really opened. */
  readonly baseUrl: string | undefined;
  readonly listen: readonly string[];
  readonly ports: {
    readonly http: parse.Port;
    readonly https: parse.Port;
    readonly smtp: parse.Port;
    readonly submission: parse.Port;
    readonly submissions: parse.Port;
    readonly imap: parse.Port;
    readonly imaps: parse.Port;
    readonly dns: parse.Port;
  };
  /** Undefined: the system's. */
  readonly resolvers: readonly parse.HostPort[] | undefined;
  /** Whether the resolvers' word on DNSSEC is believed; auto: when all of them are on this machine. */
  readonly dnssec: 'auto' | 'on' | 'off';
  readonly outboundPort: number;
  /** Undefined: whatever the system takes. */
  readonly outboundAddresses: parse.OutboundAddresses | undefined;
  /** Our name in EHLO; undefined: the public name. */
  readonly outboundHostname: string | undefined;
  readonly allowPrivateNetworks: parse.PrivateNetworks;
  readonly exemptNetworks: readonly parse.Network[];
  /** PEM files. Undefined: self-signed. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** A server that takes outgoing mail; `passwordFile` instead of a password in it. */
  readonly smarthost:
    | (parse.SmarthostUrl & { readonly use: 'always' | 'failover'; readonly passwordFile: string | undefined })
    | undefined;
  /** Peers whose X-Forwarded-For counts. */
  readonly trustProxy: readonly parse.Network[];
  /** Who may make an organization without a credential. */
  readonly bootstrap: 'open' | 'invite' | 'off';
  /** What an organization may send before it is claimed or has an active recovery key. */
  readonly unclaimedSending: 'open' | 'owner';
  /** What a mailbox may send a day, one a recipient, and to how many it never wrote to before. In live mode; 0: no limit. */
  readonly mailboxDaily: number;
  readonly mailboxNewRecipients: number;
  /** What an organization may send a day, one a recipient. In live mode; 0: no limit. */
  readonly organizationDaily: number;
  /** Messages a second of one API key or token, five times as many at once. In live mode; 0: no limit. */
  readonly keyPerSecond: number;
  /** A mailbox or key that suddenly sends what it never sent is paused. In live mode. */
  readonly pauseSenders: boolean;
  /** Undefined: this box asks for no payment. */
  readonly billingSetupUrl: string | undefined;
  readonly tokenPrefix: string;
  readonly localPassword: string | undefined;
  readonly keyFile: string;
  readonly maxMessageBytes: number;
  /** An Rspamd server that looks at what comes from outside. */
  readonly rspamdUrl: string | undefined;
  /** A ClamAV daemon that does. */
  readonly clamav: parse.ClamavPlace | undefined;
  /** Asked about addresses that bring mail, and about domains that mail names. */
  readonly dnsLists: { readonly addresses: readonly parse.DnsList[]; readonly hosts: readonly parse.DnsList[] };
  /** Strangers are told to come again. In live mode. */
  readonly greylist: boolean;
  /** Mail from outside is judged before it is taken; without that its author is checked only where a forward needs it. */
  readonly spamChecks: boolean;
  /** Domains whose ARC seal is believed: what passed DMARC there has passed it here. */
  readonly trustedSealers: readonly string[];
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat: 'pretty' | 'json';
}
