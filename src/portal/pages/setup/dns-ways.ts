import { ownServer } from '../../../domains/records.ts';
import { rowId } from '../../../core/ids.ts';
import { html, type HtmlPart } from '../../html.ts';
import { table } from '../../components.ts';
import type { PageState } from '../../page.ts';
import { type Translator, translatorOf } from '../../translator.ts';
import type { Visit } from '../../visit.ts';
import { recordState } from '../domains.ts';
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
function delegateHere({ visit: { context, request }, domain: { domain } }: DnsWayInput): ReturnType<DnsWay> {
  const { settings } = context;
  if (settings.ports.dns === undefined) return undefined;
  const t = translatorOf(request);
  const own = ownServer(rowId('domain', domain.id) ?? 0, settings.hostname);
  const rows = [own, settings.hostname].map((server, i) => [
    t('dns-way.server', { number: i + 1 }),
    copyable(t, server),
  ]);
  return {
    title: t('dns-way.delegate'),
    body: html`<p>${t('dns-way.delegate-text', { domain: domain.domain })}</p>
      ${table(t('dns-way.servers'), ['', t('dns.value')], rows, t)}`,
  };
}

/** By the API of the DNS provider of the domain. */
function connectProvider({ visit, state, domain, provider }: DnsWayInput): ReturnType<DnsWay> {
  if (provider === undefined) return undefined;
  const t = translatorOf(visit.request);
  const isConnected = provider.connected !== null;
  return {
    title: t('dns-way.provider'),
    chosen: isConnected || state.action === 'connect',
    body: html`${!isConnected && html`<p>${t('dns-way.provider-text')}</p>`}
    ${providerPanel(visit, state, provider, { [DNS_DOMAIN]: domain.domain.domain }, 'provider-dns.connect-publish')}
    ${isConnected && recordTable(t, domain)}`,
  };
}

/** By hand, at the DNS provider of the domain. */
function publishRecords({ visit, domain }: DnsWayInput): ReturnType<DnsWay> {
  const t = translatorOf(visit.request);
  return {
    title: t('dns-way.hand'),
    body: html`<p>${t('dns-way.hand-text')}</p>
      ${recordTable(t, domain)}`,
  };
}

function recordTable(t: Translator, { records }: SetupDomain): HtmlPart {
  const rows = records.map((one) => [
    one.type,
    copyable(t, one.name),
    copyable(t, one.priority === undefined ? one.value : `${one.priority} ${one.value}`),
    [recordState(t, one), !one.required && html` <span class="soft">${t('dns.recommended')}</span>`],
  ]);
  const headings = [t('dns.type'), t('account.name'), t('dns.value'), t('domains.status')];
  return table(t('dns.records'), headings, rows, t);
}

/** A value with a button that copies it, which the scripts of the portal add. */
function copyable(t: Translator, value: string): HtmlPart {
  return html`<code data-copy="${t('dns-way.the-value')}">${value}</code>`;
}
