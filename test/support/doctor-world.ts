import { createHash, X509Certificate } from 'node:crypto';
import type { DsRecord } from '../../mail/dns/ds-lookup.ts';
import type { Lookup } from '../../mail/dns/lookup.ts';
import { quiet } from '../../mail/log.ts';
import type { Settings } from '../../config/settings.ts';
import type { FetchStsPolicy } from '../../mail/relay/tls-policy/sts-fetch.ts';
import { reportOn } from '../../src/deliverability/report.ts';
import type { HostDane } from '../../src/certificates/dane.ts';
import { checkDane } from '../../src/doctor/dane-check.ts';
import { checkDnssec } from '../../src/doctor/dnssec-check.ts';
import { type DiagnosisInput, diagnose } from '../../src/doctor/diagnose.ts';
import type { HealthCheck } from '../../src/doctor/health-check.ts';
import type { ServerFacts } from '../../src/doctor/server-checks.ts';
import type { PublishedDomain } from '../../src/domains/records.ts';
import { ZoneKey } from '../../src/name-server/dnssec/zone-key.ts';
import { testCertificate } from './certificate.ts';
import { fakeResolver, type FakeZone } from './fake-resolver.ts';

export const HOST = 'mail.box.example';
export const IP = '198.41.0.4';
export const IP6 = '2600::4';
export const LIST = 'bl.example.net';
const KEY = 'v=DKIM1; k=rsa; p=MIIB';
export const HOUR = 3_600_000;
export const GIB = 1024 ** 3;
const { cert: pem } = await testCertificate(HOST);
const other = await testCertificate('other.example');
/** A time within the certificate, after the program was written. */
export const NOW = Date.UTC(2026, 11, 1, 12);

/** A signed zone with the TLSA record of a certificate. */
export function tlsaOf(certificatePem: string): HostDane {
  const key = new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' });
  const data = createHash('sha256').update(key).digest();
  const record = { usage: 3, selector: 1, matchingType: 1, data };
  return { kind: 'signed', tlsa: { kind: 'found', secure: true, records: [record] } };
}

const SHOP: PublishedDomain = {
  id: 1,
  name: 'shop.example',
  keys: [{ selector: 'ms1', algorithm: 'rsa-sha256', text: KEY, state: 'signs', retiredAt: null }],
};

/** Key of the zone of the domain, where it is led here. */
export const SHOP_KEY = new ZoneKey(SHOP.name, Buffer.alloc(32, 7));

/** The DNS of a server of which everything is right. */
const ZONE: FakeZone = {
  'NS com': ['a.gtld-servers.net'],
  [`A ${HOST}`]: [IP],
  [`PTR ${IP}`]: [HOST],
  'MX shop.example': [`10 ${HOST}`],
  'TXT shop.example': ['v=spf1 mx ~all'],
  'TXT ms1._domainkey.shop.example': [KEY],
  'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'],
  'TXT _mta-sts.shop.example': ['v=STSv1; id=1'],
  [`A 2.0.0.127.${LIST}`]: ['127.0.0.2'],
};

const SETTINGS = {
  live: true,
  hostname: HOST,
  baseUrl: `https://${HOST}`,
  listen: ['0.0.0.0', '::'],
  ports: { http: 80, https: 443, smtp: 25, submission: 587, submissions: 465, imap: 143, imaps: 993, dns: 53 },
  resolvers: undefined,
  dnssec: 'auto',
  outboundPort: 25,
  outboundAddresses: undefined,
  outboundHostname: undefined,
  allowPrivateNetworks: { all: false, networks: [], endpoints: [] },
  exemptNetworks: [],
  tls: undefined,
  acme: { email: 'a@box.example', directory: 'https://acme.example/d', challenge: 'auto', rsa: false },
  smarthost: undefined,
  trustProxy: [],
  bootstrap: 'off',
  rspamdUrl: undefined,
  clamav: undefined,
  spamChecks: true,
  dnsLists: { addresses: [{ zone: LIST, score: 3, refuse: false }], hosts: [] },
} as const satisfies Partial<Settings>;

const FACTS: ServerFacts = {
  now: NOW,
  clockState: { kind: 'steady' },
  live: true,
  hostname: HOST,
  failing: [],
  listeners: ['smtp', 'submission', 'submissions', 'imap', 'imaps', 'http', 'https'],
  certificate: { pem, selfSigned: false, automatic: true, failing: [] },
  disk: { free: 50 * GIB, total: 100 * GIB },
  queue: { due: 3, held: 0, oldest: NOW - HOUR, next: NOW + HOUR },
  refusedLogins: [],
  damaged: 0,
  bucket: { label: 's3://mail', problem: undefined },
  backup: {
    target: true,
    everyMs: 24 * HOUR,
    lastGoodAt: NOW - HOUR,
    sealed: true,
    problem: undefined,
    damage: undefined,
  },
  skewMs: 0,
  filter: { on: true, scanners: [] },
};

/** One fault: what is changed on a server of which everything is right. */
export interface InjectedFault {
  facts?: Partial<ServerFacts>;
  settings?: Partial<Settings>;
  zone?: FakeZone;
  /** Names without any record. */
  without?: readonly string[];
  /** Every lookup fails. */
  dead?: boolean;
  /** Lines that the SMTP server of an address answers with, or the error of the connection. */
  smtp?: Readonly<Record<string, readonly string[] | string>>;
  sts?: FetchStsPolicy;
  ownIpv6?: readonly string[];
  peer?: string;
  /** Last connection from outside; null: none ever; left out: an hour ago. */
  inboundAt?: number | null;
  unverified?: readonly string[];
  /** Reason why the last access to the DNS provider of the domain failed. */
  provider?: string;
  /** Left out: TLSA records that match. */
  dane?: HostDane;
  /** DS records above shop.example, which is led here; left out: it is not. */
  ds?: Lookup<DsRecord>;
  broken?: 'facts' | 'reports';
  /** Domain of which no report can be made. */
  brokenDomain?: string;
  /** Verified domains; left out: shop.example. */
  domains?: readonly string[];
  /** Lines of the last run. */
  previous?: readonly HealthCheck[];
  /** Time in which checks of domains begin, ms. */
  surveyMs?: number;
}

export const DAYS_OF_CERTIFICATE = 24 * HOUR;
export const CERTIFICATE = {
  pem,
  other: other.cert,
  start: new X509Certificate(pem).validFromDate.getTime(),
  end: new X509Certificate(pem).validToDate.getTime(),
};

const REFUSES = ['220 mail.box.example ESMTP', '250 ok', '250 2.1.0 Ok', '550 5.7.1 Log in to send', '221 bye'];

/** Runs the doctor on a server with one fault. */
export function diagnosed(fault: InjectedFault): Promise<HealthCheck[]> {
  const zone: FakeZone = { ...ZONE, ...fault.zone };
  for (const name of fault.without ?? [])
    for (const key of Object.keys(zone)) if (key.endsWith(` ${name}`)) delete zone[key];
  if (fault.dead === true) for (const key of Object.keys(zone)) zone[key] = 'trouble';
  const resolver = fakeResolver(zone);
  const settings = { ...SETTINGS, ...fault.settings } as unknown as Settings;
  const facts = { ...FACTS, ...fault.facts };
  const policy = { mode: 'enforce' as const, mx: [HOST], maxAge: 1 };
  const fetchSts = fault.sts ?? (() => Promise.resolve({ policy, strings: [] }));
  const certificate = () => facts.certificate;
  const context = { settings, lookNow: resolver, fetchSts, certificate, clock: () => facts.now, log: quiet };
  const input: DiagnosisInput = {
    facts: () => (fault.broken === 'facts' ? Promise.reject(new Error('EIO')) : Promise.resolve(facts)),
    settings,
    resolver,
    use: () => Promise.resolve({ byProvider: false }),
    smtpPort: 25,
    ownIpv6: fault.ownIpv6 ?? [],
    peer: fault.peer,
    now: facts.now,
    inbound: () => {
      const at = fault.inboundAt === undefined ? facts.now - HOUR : fault.inboundAt;
      return Promise.resolve(at === null ? undefined : { value: '192.5.6.30', at });
    },
    unverified: fault.unverified ?? [],
    dane: () =>
      Promise.resolve(checkDane(fault.dane ?? tlsaOf(facts.certificate.pem), { ...facts.certificate, ...facts })),
    dnssec: (zone) =>
      Promise.resolve(zone === SHOP.name && fault.ds !== undefined ? [checkDnssec(fault.ds, SHOP_KEY)] : []),
    providers: () => Promise.resolve([{ name: SHOP.name, error: fault.provider ?? null }]),
    report: async (name, resolver) => {
      if (fault.broken === 'reports' || fault.brokenDomain === name) throw new Error('the store is busy');
      return reportOn({ ...context, lookNow: resolver }, { ...SHOP, name });
    },
    survey: {
      domains: fault.domains ?? [SHOP.name],
      previous: fault.previous ?? [],
      clock: () => facts.now,
      forMs: fault.surveyMs ?? 60_000,
      hourlyMs: 1_800_000,
      failedFirst: false,
    },
    dialog: (host) => {
      const answer = fault.smtp?.[host] ?? REFUSES;
      return typeof answer === 'string' ? Promise.reject(new Error(answer)) : Promise.resolve([...answer]);
    },
  };
  return diagnose(input);
}
