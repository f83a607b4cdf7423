import * as parse from './parse.ts';
import type { Parse } from './parse.ts';
import * as backup from './parse-backup.ts';
import { type BlobSettings, bucketUrl } from './parse-s3.ts';

/**
 * One setting. Defaults are text, parsed like the environment; undefined means unset. Names omit MAILSTEAD_.
 */
interface Setting<T> {
  parse: Parse<T>;
  local?: string;
  /** Default in live mode, if different. */
  live?: string;
  /** Not supported yet: only this value, or none, is accepted. */
  notYet?: string | true;
  /** Omitted from error messages. */
  secret?: true;
}

const define = <T>(setting: Setting<T>): Setting<T> => setting;

/** All settings. config/example.env documents them; a test compares the two. */
export const SETTINGS = {
  DATA_DIR: define({ parse: parse.text, local: './data' }),
  DATABASE: define({ parse: parse.postgresUrl, secret: true }),
  DATABASE_PASSWORD_FILE: define({ parse: parse.text }),
  NODE: define({ parse: parse.nodeName }),
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
  IMAP_UIDONLY: define({ parse: parse.oneWordOf('on', 'off'), local: 'off' }),
  DNS_PORT: define({ parse: parse.port, local: 'off' }),
  RESOLVERS: define({ parse: parse.resolvers }),
  DNSSEC: define({ parse: parse.oneWordOf('auto', 'on', 'off'), local: 'auto' }),
  OUTBOUND_PORT: define({ parse: parse.remotePort, local: '25' }),
  OUTBOUND_ADDRESSES: define({ parse: parse.outboundAddresses }),
  OUTBOUND_HOSTNAME: define({ parse: parse.hostName }),
  SENDING_RAMP: define({ parse: parse.oneWordOf('on', 'off'), local: 'off', live: 'on' }),
  SEND_REPORTS: define({ parse: parse.oneWordOf('on', 'off'), local: 'off', live: 'on' }),
  ALLOW_PRIVATE_NETWORKS: define({ parse: parse.privateNetworks, local: 'true', live: 'false' }),
  EXEMPT_NETWORKS: define({ parse: parse.networks }),
  TLS_CERT: define({ parse: parse.text }),
  TLS_KEY: define({ parse: parse.text }),
  ACME_EMAIL: define({ parse: parse.mailAddress }),
  ACME_DIRECTORY: define({ parse: parse.httpsUrl, local: 'https://acme-v02.api.letsencrypt.org/directory' }),
  ACME_CHALLENGE: define({ parse: parse.oneWordOf('auto', 'http-01', 'tls-alpn-01', 'dns-01'), local: 'auto' }),
  ACME_KEYS: define({ parse: parse.oneWordOf('ecdsa', 'ecdsa,rsa'), local: 'ecdsa' }),
  SMARTHOST: define({ parse: parse.smarthost, secret: true }),
  SMARTHOST_PASSWORD_FILE: define({ parse: parse.text }),
  SMARTHOST_USE: define({ parse: parse.oneWordOf('always', 'failover'), local: 'always' }),
  OIDC_ISSUER: define({ parse: parse.issuerUrl }),
  OIDC_CLIENT_ID: define({ parse: parse.password }),
  OIDC_CLIENT_SECRET: define({ parse: parse.password, secret: true }),
  OIDC_CLIENT_SECRET_FILE: define({ parse: parse.text }),
  OIDC_NAME: define({ parse: parse.password, local: 'single sign-on' }),
  TRUST_PROXY: define({ parse: parse.networks }),
  BOOTSTRAP: define({ parse: parse.oneWordOf('open', 'invite', 'off'), local: 'open', live: 'off' }),
  UNCLAIMED_SENDING: define({ parse: parse.oneWordOf('open', 'owner'), local: 'open' }),
  MAILBOX_DAILY: define({ parse: parse.between(0, 1_000_000), local: '1000' }),
  MAILBOX_NEW_RECIPIENTS: define({ parse: parse.between(0, 1_000_000), local: '200' }),
  ORGANIZATION_DAILY: define({ parse: parse.between(0, 100_000_000), local: '10000' }),
  KEY_PER_SECOND: define({ parse: parse.between(0, 1_000), local: '10' }),
  PAUSE_SENDERS: define({ parse: parse.oneWordOf('on', 'off'), local: 'on' }),
  BILLING_SETUP_URL: define({ parse: parse.webUrl }),
  TOKEN_PREFIX: define({ parse: parse.tokenPrefix, local: 'mst' }),
  LOCAL_PASSWORD: define({ parse: parse.password, secret: true }),
  KEY_FILE: define({ parse: parse.text }),
  MAX_MESSAGE_BYTES: define({ parse: parse.between(1024, 268_435_456), local: '26214400' }),
  MEMORY: define({ parse: parse.between(256, 16_777_216) }),
  DNSBL: define({ parse: parse.dnsLists, local: 'off', live: 'bl.spamcop.net,psbl.surriel.com' }),
  URIBL: define({ parse: parse.dnsLists, local: 'off' }),
  GREYLIST: define({ parse: parse.oneWordOf('on', 'off'), local: 'off' }),
  SPAM_CHECKS: define({ parse: parse.oneWordOf('on', 'off'), local: 'on' }),
  TRUSTED_SEALERS: define({ parse: parse.domains }),
  RSPAMD_URL: define({ parse: parse.rspamd, secret: true }),
  CLAMAV: define({ parse: parse.clamav }),
  BACKUP_TARGET: define({ parse: parse.text }),
  BACKUP_EVERY: define({ parse: backup.interval, local: '24h' }),
  BACKUP_CONTINUOUS: define({ parse: backup.seconds, local: 'off' }),
  BACKUP_KEEP: define({ parse: backup.retention, local: 'hourly:24,daily:7,weekly:5,monthly:12' }),
  BACKUP_RATE: define({ parse: parse.between(0, 100_000), local: '32' }),
  BACKUP_PASSPHRASE: define({ parse: backup.passphrase, secret: true }),
  BACKUP_PASSPHRASE_FILE: define({ parse: parse.text }),
  BACKUP_RECIPIENT: define({ parse: backup.recipients }),
  BACKUP_IDENTITY: define({ parse: backup.identity, secret: true }),
  BACKUP_IDENTITY_FILE: define({ parse: parse.text }),
  BACKUP_S3_ENDPOINT: define({ parse: parse.baseUrl }),
  BACKUP_S3_REGION: define({ parse: parse.text, local: 'us-east-1' }),
  BACKUP_S3_ACCESS_KEY: define({ parse: parse.text }),
  BACKUP_S3_SECRET_KEY: define({ parse: parse.text, secret: true }),
  BACKUP_S3_SECRET_KEY_FILE: define({ parse: parse.text }),
  BLOBS: define({ parse: bucketUrl }),
  BLOBS_CACHE: define({ parse: parse.between(16, 16_777_216), local: '1024' }),
  BLOBS_S3_ENDPOINT: define({ parse: parse.baseUrl }),
  BLOBS_S3_REGION: define({ parse: parse.text, local: 'us-east-1' }),
  BLOBS_S3_ACCESS_KEY: define({ parse: parse.text }),
  BLOBS_S3_SECRET_KEY: define({ parse: parse.text, secret: true }),
  BLOBS_S3_SECRET_KEY_FILE: define({ parse: parse.text }),
  LOG_LEVEL: define({ parse: parse.oneWordOf('trace', 'debug', 'info', 'warn', 'error'), local: 'info' }),
  LOG_FORMAT: define({ parse: parse.oneWordOf('pretty', 'json') }),
} as const;

export type SettingName = keyof typeof SETTINGS;

/** Settings of the process and the machine. Paths are absolute. */
export interface Settings {
  /** True if the public name is set. */
  readonly live: boolean;
  readonly dataDir: string;
  /** URL of the PostgreSQL database; undefined: SQLite. `passwordFile` has its password. */
  readonly database: { readonly url: string; readonly passwordFile: string | undefined } | undefined;
  /** Name of this node, where several servers share the database and the bucket; undefined: it is alone. */
  readonly node: string | undefined;
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
  /** Offer the IMAP extension UIDONLY. */
  readonly imapUidOnly: boolean;
  /** Undefined: the system's resolvers. */
  readonly resolvers: readonly parse.HostPort[] | undefined;
  /** Trust the AD flag of the resolvers (DNSSEC); auto: if all are on loopback. */
  readonly dnssec: 'auto' | 'on' | 'off';
  readonly outboundPort: number;
  /** Undefined: chosen by the system. */
  readonly outboundAddresses: parse.OutboundAddresses | undefined;
  /** Name in EHLO; undefined: the public name. */
  readonly outboundHostname: string | undefined;
  /** Limit mail to receivers that do not know this server yet. */
  readonly sendingRamp: boolean;
  /** Send DMARC aggregate and TLS reports to domains that ask for them. */
  readonly sendReports: boolean;
  readonly allowPrivateNetworks: parse.PrivateNetworks;
  readonly exemptNetworks: readonly parse.Network[];
  /** PEM files. Undefined: self-signed. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Certificates from an ACME authority. Live mode; undefined: none. */
  readonly acme:
    | {
        /** Contact of the account. */
        readonly email: string;
        readonly directory: string;
        /** Kind of proof; auto: each in turn. */
        readonly challenge: 'auto' | 'http-01' | 'tls-alpn-01' | 'dns-01';
        /** RSA certificates too, beside those with ECDSA. */
        readonly rsa: boolean;
      }
    | undefined;
  /** Smarthost for outgoing mail; `passwordFile` replaces a password in the URL. */
  readonly smarthost:
    | (parse.SmarthostUrl & { readonly use: 'always' | 'failover'; readonly passwordFile: string | undefined })
    | undefined;
  /** OpenID provider that people may sign in by; `clientSecretFile` replaces the secret. */
  readonly singleSignOn:
    | {
        readonly issuer: string;
        readonly clientId: string;
        /** Undefined, and no file: a public client. */
        readonly clientSecret: string | undefined;
        readonly clientSecretFile: string | undefined;
        /** Name on the button. */
        readonly name: string;
      }
    | undefined;
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly parse.Network[];
  /** Registration of organizations: open, by invitation, or off. */
  readonly bootstrap: 'open' | 'invite' | 'off';
  /** Sending allowed before an organization is claimed or has an active recovery key. */
  readonly unclaimedSending: 'open' | 'owner';
  /** Recipients per mailbox and day, and new recipients among them. Live mode; 0: no limit. */
  readonly mailboxDaily: number;
  readonly mailboxNewRecipients: number;
  /** Recipients per organization and day. Live mode; 0: no limit. */
  readonly organizationDaily: number;
  /** Messages per second of one API key or token, with bursts of five times as many. Live mode; 0: no limit. */
  readonly keyPerSecond: number;
  /** Pause mailboxes and keys that send unusual mail. Live mode. */
  readonly pauseSenders: boolean;
  /** Undefined: no payment required. */
  readonly billingSetupUrl: string | undefined;
  readonly tokenPrefix: string;
  readonly localPassword: string | undefined;
  readonly keyFile: string;
  readonly maxMessageBytes: number;
  /** Memory of the box for this process, MB. */
  readonly memoryMb: number;
  /** Rspamd server for inbound mail. */
  readonly rspamdUrl: string | undefined;
  /** ClamAV daemon for inbound mail. */
  readonly clamav: parse.ClamavSetting | undefined;
  /** DNSBLs for client addresses, and URIBLs for domains in messages. */
  readonly dnsLists: {
    readonly addresses: readonly parse.DnsListSetting[];
    readonly hosts: readonly parse.DnsListSetting[];
  };
  /** Greylist unknown senders. Live mode. */
  readonly greylist: boolean;
  /** Filter inbound mail before acceptance. If off, authentication is checked only for forwards. */
  readonly spamChecks: boolean;
  /** Domains whose ARC seals are trusted to override a DMARC failure. */
  readonly trustedSealers: readonly string[];
  readonly backup: backup.BackupSettings;
  readonly blobs: BlobSettings;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat: 'pretty' | 'json';
}
