import { ownServer } from '../../../domains/records.ts';
import { rowId } from '../../../core/ids.ts';
import { html, type HtmlPart } from '../../html.ts';
import { table, tag } from '../../components.ts';
import type { Visit } from '../../visit.ts';
import type { SetupDomain } from './setup-state.ts';

/** One way to publish the records of a domain; undefined: not possible on this server. */
type DnsWay = (visit: Visit, domain: SetupDomain) => { title: string; body: HtmlPart } | undefined;

/** A way by the API of a DNS provider is one more function here. */
const DNS_WAYS: readonly DnsWay[] = [delegateHere, publishRecords];

/** All ways that this server offers, the shortest first. */
export function dnsWays(visit: Visit, domain: SetupDomain): HtmlPart {
  const ways = DNS_WAYS.map((way) => way(visit, domain)).filter((way) => way !== undefined);
  return ways.map(
    ({ title, body }, i) =>
      html`<details class="more" ${(i === ways.length - 1 || ways.length === 1) && html`open`}>
        <summary>${title}</summary>
        ${body}
      </details>`,
  );
}

/** By making this server the name server of the domain. */
function delegateHere({ context: { settings } }: Visit, { domain }: SetupDomain): ReturnType<DnsWay> {
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

const LOOKS = { ok: 'ok', missing: 'bad', mismatch: 'bad', unknown: '' } as const;
const WORDS = { ok: 'Published', missing: 'Missing', mismatch: 'Mismatch', unknown: 'Unknown' } as const;

/** By hand, at the DNS provider of the domain. */
function publishRecords(_visit: Visit, { records }: SetupDomain): ReturnType<DnsWay> {
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
  return {
    title: 'Publish the records by hand',
    body: html`<p>Create these records at the DNS provider of the domain.</p>
      ${table('DNS records', ['Type', 'Name', 'Value', 'Status'], rows)}`,
  };
}

/** A value with a button that copies it, which the scripts of the portal add. */
function copyable(value: string): HtmlPart {
  return html`<code data-copy="the value">${value}</code>`;
}
