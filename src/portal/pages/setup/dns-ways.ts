import { ownServer } from '../../../domains/records.ts';
import { rowId } from '../../../core/ids.ts';
import { html, type HtmlPart } from '../../html.ts';
import { table, tag } from '../../components.ts';
import type { PageState } from '../../page.ts';
import type { Visit } from '../../visit.ts';
import { DNS_DOMAIN, type ProviderFacts, providerPanel } from '../domain-dns.ts';
import type { SetupDomain } from './setup-state.ts';

/** Input of a way. */
interface DnsWayInput {
  visit: Visit;
  state: PageState;
  domain: SetupDomain;
  /** Undefined where the visitor may not see it. */
  provider: ProviderFacts | undefined;
}

/** One way to publish the records of a domain; undefined: not possible on this server. */
type DnsWay = (input: DnsWayInput) => { title: string; body: HtmlPart; chosen?: boolean } | undefined;

const DNS_WAYS: readonly DnsWay[] = [delegateHere, connectProvider, publishRecords];

/** All ways that this server offers, the shortest first. The one that was begun is open, else the last. */
export function dnsWays(input: DnsWayInput): HtmlPart {
  const ways = DNS_WAYS.map((way) => way(input)).filter((way) => way !== undefined);
  const open = ways.find(({ chosen }) => chosen) ?? ways.at(-1);
  return ways.map(
    (way) =>
      html`<details class="more" ${way === open && html`open`}>
        <summary>${way.title}</summary>
        ${way.body}
      </details>`,
  );
}

/** By making this server the name server of the domain. */
function delegateHere({ visit: { context }, domain: { domain } }: DnsWayInput): ReturnType<DnsWay> {
  const { settings } = context;
  if (settings.ports.dns === undefined) return undefined;
  const own = ownServer(rowId('domain', domain.id) ?? 0, settings.hostname);
  const rows = [own, settings.hostname].map((server, i) => [`Name server ${i + 1}`, copyable(server)]);
  return {
    title: 'Let this server publish everything (change the name servers)',
    body: html`<p>
        Set these name servers for ${domain.domain} at its registrar. This server then publishes all records, and
        changes the DKIM keys by itself. Records of other services (a web site) have to stay where they are: then
        publish by hand.
      </p>
      ${table('Name servers', ['', 'Value'], rows)}`,
  };
}

/** By the API of the DNS provider of the domain. */
function connectProvider({ visit, state, domain, provider }: DnsWayInput): ReturnType<DnsWay> {
  if (provider === undefined) return undefined;
  const isConnected = provider.connected !== null;
  return {
    title: 'Publish the records at a DNS provider (Cloudflare, Hetzner, Route 53, RFC 2136 and others)',
    chosen: isConnected || state.action === 'connect',
    body: html`${!isConnected && html`<p>New records are published at once. Where others have records that are in the way, you see the changes first.</p>`}
    ${providerPanel(visit, state, provider, { [DNS_DOMAIN]: domain.domain.domain }, 'Connect and publish:')}
    ${isConnected && recordTable(domain)}`,
  };
}

/** By hand, at the DNS provider of the domain. */
function publishRecords({ domain }: DnsWayInput): ReturnType<DnsWay> {
  return {
    title: 'Publish the records by hand',
    body: html`<p>Create these records at the DNS provider of the domain.</p>
      ${recordTable(domain)}`,
  };
}

const LOOKS = { ok: 'ok', missing: 'bad', mismatch: 'bad', unknown: '' } as const;
const WORDS = { ok: 'Published', missing: 'Missing', mismatch: 'Mismatch', unknown: 'Unknown' } as const;

function recordTable({ records }: SetupDomain): HtmlPart {
  const rows = records.map((one) => [
    one.type,
    copyable(one.name),
    copyable(one.priority === undefined ? one.value : `${one.priority} ${one.value}`),
    [
      tag(WORDS[one.status], LOOKS[one.status]),
      !one.required && html` <span class="soft">recommended</span>`,
      one.status === 'mismatch' && html` <span class="soft">found: ${one.observed.join(', ')}</span>`,
    ],
  ]);
  return table('DNS records', ['Type', 'Name', 'Value', 'Status'], rows);
}

/** A value with a button that copies it, which the scripts of the portal add. */
function copyable(value: string): HtmlPart {
  return html`<code data-copy="the value">${value}</code>`;
}
