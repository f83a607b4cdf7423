import type { Settings } from '../../config/settings.ts';
import { characterStrings } from '../name-server/zone.ts';
import { paccDigestText } from '../client-setup/pacc.ts';
import { publicId } from '../core/ids.ts';
import type { DmarcPolicyName } from '../reports/advice.ts';
import { domainReportAddress } from '../reports/report-address.ts';
import type { PublishedKey } from './queries.ts';
import { stsRecordText } from './sts-policy.ts';
import type { OwnStsPolicy } from './sts-queries.ts';

export type RecordStatus = 'ok' | 'missing' | 'mismatch' | 'unknown';

/** A DNS record that a domain needs. */
export interface RequiredRecord {
  purpose: 'inbound_mx' | 'dkim' | 'spf' | 'dmarc' | 'mta_sts' | 'tls_reports' | 'client_setup';
  type: 'MX' | 'TXT' | 'CNAME' | 'SRV';
  /** Full name without a trailing dot. */
  name: string;
  /** MX: without the preference; TXT: whole and unquoted; SRV: weight, port and target. */
  value: string;
  priority?: number;
  ttl: number;
  /** Required for verification. */
  required: boolean;
  /** Only for DKIM records. */
  selector?: string;
}

export interface SeenRecord {
  status: RecordStatus;
  observed: string[];
  /** Reason why it is not right, where the values alone do not show it. */
  why?: string;
}

export interface PublishedDomain {
  id: number;
  name: string;
  keys: readonly PublishedKey[];
  /** MTA-STS policy; left out: none. */
  sts?: OwnStsPolicy | undefined;
  /** DMARC policy to publish; left out: none. */
  dmarc?: DmarcPolicyName;
}

/** Facts about this server that the records of a domain contain. */
export interface RecordServer {
  hostname: string;
  /**
   * The keys are in this box's own DNS under permanent names, and all selectors are CNAMEs to them, so that keys rotate without
   * any action of the owner.
   */
  byName: boolean;
  /** Addresses of `MAILSTEAD_OUTBOUND_ADDRESSES`; undefined: those of the host name. */
  outbound?: readonly string[] | undefined;
  /** Undefined (local mode): mail programs cannot fetch the document whose digest would be published. */
  baseUrl?: string | undefined;
}

/** Reads from the settings what the records say about this server. */
export function recordServer({
  hostname,
  ports,
  outboundAddresses,
  baseUrl,
}: Pick<Settings, 'hostname' | 'ports' | 'outboundAddresses' | 'baseUrl'>): RecordServer {
  return { hostname, byName: ports.dns !== undefined, outbound: outboundOf(outboundAddresses), baseUrl };
}

/** Zone of the keys on this box's own name server. */
export function keyZone(hostname: string): string {
  return `dkim.${hostname}`;
}

/**
 * Creates a server name that identifies one claim, for delegations of a name with several claims. Without the underscore of an
 * id: registries accept only host names (RFC 1123 2.1).
 */
export function ownServer(domain: number, hostname: string): string {
  return `${publicId('domain', domain).replace('_', '-')}.ns.${keyZone(hostname)}`;
}

const TTL = 3600;

/** SPF terms of addresses. */
export const addressTerms = (addresses: readonly string[]): string[] =>
  addresses.map((ip) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`);

/** SPF record that authorizes the MX, and the addresses of the settings, which may be others. RFC 7208. */
export function spfText(outbound: readonly string[] | undefined): string {
  return ['v=spf1 mx', ...addressTerms(outbound ?? []), '~all'].join(' ');
}

/** Addresses of `MAILSTEAD_OUTBOUND_ADDRESSES`; undefined: those of the host name. */
export function outboundOf(
  set: { ipv4?: string | undefined; ipv6?: string | undefined } | undefined,
): string[] | undefined {
  return set && [set.ipv4, set.ipv6].filter((ip) => ip !== undefined);
}
export const MX_PRIORITY = 10;

/** DMARC record that asks for aggregate reports. RFC 7489 6.2. */
export function dmarcText(domain: string, policy: DmarcPolicyName = 'none'): string {
  return `v=DMARC1; p=${policy}; rua=mailto:${domainReportAddress(domain)}`;
}

/** Record that asks for reports on TLS. RFC 8460 3. */
export function tlsReportText(domain: string): string {
  return `v=TLSRPTv1; rua=mailto:${domainReportAddress(domain)}`;
}

/** Thunderbird and others; Outlook; draft-ietf-mailmaint-pacc. */
export const CLIENT_HOSTS = ['autoconfig', 'autodiscover', 'ua-auto-config'] as const;
const ALL_SELECTORS = ['ms1', 'ms2', 'ms3', 'ms4'];

/** Records to publish for a domain. */
export function requiredRecords(domain: PublishedDomain, server: RecordServer): RequiredRecord[] {
  const { name } = domain;
  const { hostname, byName, outbound } = server;
  return [
    {
      purpose: 'inbound_mx',
      type: 'MX',
      name,
      value: hostname,
      priority: MX_PRIORITY,
      ttl: TTL,
      required: true,
    },
    ...(byName ? namedKeys(domain, hostname) : keyTexts(domain)),
    { purpose: 'spf', type: 'TXT', name, value: spfText(outbound), ttl: TTL, required: true },
    {
      purpose: 'dmarc',
      type: 'TXT',
      name: `_dmarc.${name}`,
      value: dmarcText(name, domain.dmarc),
      ttl: TTL,
      required: false,
    },
    {
      purpose: 'tls_reports',
      type: 'TXT',
      name: `_smtp._tls.${name}`,
      value: tlsReportText(name),
      ttl: TTL,
      required: false,
    },
    ...stsRecords(domain, hostname),
    ...clientRecords(name, server),
  ];
}

/** The host of the policy comes before the policy, so that its certificate is there when senders look. RFC 8461 3.3. */
function stsRecords({ name, sts }: PublishedDomain, hostname: string): RequiredRecord[] {
  const common = { purpose: 'mta_sts' as const, ttl: TTL, required: false };
  const host = { ...common, type: 'CNAME' as const, name: `mta-sts.${name}`, value: hostname };
  if (sts === undefined) return [host];
  return [{ ...common, type: 'TXT', name: `_mta-sts.${name}`, value: stsRecordText(sts) }, host];
}

/** Services of SRV records: RFC 6186 3, RFC 8314 5.1, RFC 8620 2.2. Only those with implicit TLS have a target. */
const SRV_PORTS = { _imaps: 993, _submissions: 465, _jmap: 443 } as const;

/** Names by which mail programs find their settings. */
function clientRecords(name: string, { hostname, baseUrl }: RecordServer): RequiredRecord[] {
  const common = { purpose: 'client_setup' as const, ttl: TTL, required: false };
  return [
    ...CLIENT_HOSTS.map((label) => ({ ...common, type: 'CNAME' as const, name: `${label}.${name}`, value: hostname })),
    ...Object.entries(SRV_PORTS).map(([service, port]) => ({
      ...common,
      type: 'SRV' as const,
      name: `${service}._tcp.${name}`,
      value: `1 ${port} ${hostname}`,
      priority: 0,
    })),
    ...(baseUrl === undefined
      ? []
      : [
          {
            ...common,
            type: 'TXT' as const,
            name: `_ua-auto-config.${name}`,
            value: paccDigestText(name, { hostname, baseUrl }),
          },
        ]),
  ];
}

function namedKeys({ id, name, keys }: PublishedDomain, hostname: string): RequiredRecord[] {
  return ALL_SELECTORS.map((selector) => ({
    purpose: 'dkim',
    type: 'CNAME',
    name: `${selector}._domainkey.${name}`,
    value: `${selector}.${publicId('domain', id)}.${keyZone(hostname)}`,
    ttl: TTL,
    required: keys.some((key) => key.selector === selector && isNeeded(key)),
    selector,
  }));
}

function keyTexts({ name, keys }: PublishedDomain): RequiredRecord[] {
  return keys.map((key) => ({
    purpose: 'dkim',
    type: 'TXT',
    name: `${key.selector}._domainkey.${name}`,
    value: key.text,
    ttl: TTL,
    required: isNeeded(key),
    selector: key.selector,
  }));
}

/** One key is enough for verification, and every verifier knows RSA. RFC 8463 3. */
function isNeeded({ state, algorithm }: PublishedKey): boolean {
  return state === 'signs' && algorithm === 'rsa-sha256';
}

/** Lines for a zone file. Long texts are split into strings of at most 255 octets. RFC 1035 5.1. */
export function zoneText(records: readonly RequiredRecord[], notes: readonly string[]): string {
  const lines = records.map((record) => `${record.name}. ${record.ttl} IN ${record.type} ${rdata(record)}`);
  return [...notes.map((note) => `; ${note}`), ...lines, ''].join('\n');
}

function rdata({ type, value, priority }: RequiredRecord): string {
  switch (type) {
    case 'MX':
      return `${priority ?? MX_PRIORITY} ${value}.`;
    case 'CNAME':
      return `${value}.`;
    case 'SRV':
      return `${priority ?? 0} ${value}.`;
    case 'TXT':
      return characterStrings(value)
        .map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`)
        .join(' ');
  }
}
