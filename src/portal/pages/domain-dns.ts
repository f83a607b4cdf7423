import type { getDnsProvider, previewDnsChanges } from '../../operations/dns-providers/provider.ts';
import { emptyState, table, tag, timestamp } from '../components.ts';
import { field, type FormState } from '../forms.ts';
import type { Fields } from '../form-fields.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import {
  actionButton,
  actionForm,
  confirmedAction,
  formStateFor,
  operationAction,
  type Page,
  type PageState,
  type Params,
} from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

export type ProviderFacts = OutputOf<typeof getDnsProvider>;
type Provider = ProviderFacts['providers'][number];
type Change = OutputOf<typeof previewDnsChanges>['changes'][number];

/** Hidden field with the name of the domain, where the page is not that of a domain. */
export const DNS_DOMAIN = 'dnsDomain';

function which(fields: Fields, params: Params): { domain: string | undefined; domainId: string | undefined } {
  const domain = fields.line(DNS_DOMAIN);
  return { domain, domainId: domain === undefined ? params['id'] : undefined };
}
/** Prefix of the fields that hold credentials. */
const CREDENTIAL = 'credential-';

/** Notices of the actions below. */
export const DNS_NOTICES = {
  connected: { message: 'provider-dns.connected' },
  published: { message: 'provider-dns.published' },
  disconnected: { message: 'provider-dns.disconnected' },
} as const satisfies Page['notices'];

export const DNS_ACTIONS: Page['actions'] = {
  connect: operationAction('connect_dns_provider', 'connected', (fields, params) => {
    const provider = fields.text('provider');
    const names = fields.text('names').slice(0, 500).split(' ');
    const given = names.map((name) => [name, fields.text(`${CREDENTIAL}${name}`).trim()] as const);
    const credentials = Object.fromEntries(given.filter(([name, value]) => name !== '' && value !== ''));
    return { ...which(fields, params), provider, credentials };
  }),
  preview: operationAction(
    'preview_dns_changes',
    (result, visit) => ({ kind: 'shown', panel: previewPanel(visit, result as OutputOf<typeof previewDnsChanges>) }),
    which,
  ),
  publish: operationAction('publish_dns_records', 'published', (fields, params) => ({
    ...which(fields, params),
    mergeReports: fields.text('mergeReports') === 'true',
  })),
  disconnect: operationAction('disconnect_dns_provider', 'disconnected', (fields, params) => ({
    ...which(fields, params),
    removeRecords: fields.text('removeRecords') === 'true',
  })),
};

/** Section of a domain's page: connect a DNS provider, preview, publish, disconnect. */
export async function dnsProviderSection(visit: Visit, state: PageState): Promise<HtmlPart> {
  const facts = await readDnsProvider(visit, state.params['id'] ?? '');
  if (facts === undefined) return undefined;
  return html`<section>
    <h2>${translatorOf(visit.request)('provider-dns.title')}</h2>
    ${providerPanel(visit, state, facts)}
  </section>`;
}

/** Reads the provider of a domain; undefined where the visitor may not see it. */
export async function readDnsProvider(visit: Visit, domainId: string): Promise<ProviderFacts | undefined> {
  if (!isAllowed(visit, 'get_dns_provider')) return undefined;
  return readOperation<typeof getDnsProvider>(visit, 'get_dns_provider', { domainId });
}

/**
 * Forms to connect a provider, or the state of the connected one. `domain`: hidden field of the forms; `label`: message of
 * the button.
 */
export function providerPanel(
  visit: Visit,
  state: PageState,
  facts: ProviderFacts,
  domain: Params = {},
  label: ConnectLabel = 'provider-dns.connect',
): HtmlPart {
  const { connected, providers } = facts;
  return connected === null
    ? connectForms(visit, state, { providers, domain, label })
    : connection(visit, connected, domain);
}

function connection(visit: Visit, one: NonNullable<ProviderFacts['connected']>, domain: Params): HtmlPart {
  const { title, zone, publishedAt, error } = one;
  const t = translatorOf(visit.request);
  return html`<p>
      ${t.rich('provider-dns.zone', { title, zone: html`<code>${zone}</code>` })}
      ${publishedAt === null ? t('provider-dns.unpublished') : t.rich('provider-dns.last', { time: timestamp(publishedAt, t) })}
    </p>
    ${error !== null && html`<div class="note bad"><p>${t.english(error)}</p></div>`}
    <div class="stack">
      ${isAllowed(visit, 'preview_dns_changes') && html`<div>${actionButton(visit, 'preview', t('provider-dns.preview'), domain, '')}</div>`}
      ${isAllowed(visit, 'disconnect_dns_provider') && disconnection(t, visit, title, domain)}
    </div>`;
}

function disconnection(t: Translator, visit: Visit, title: string, domain: Params): Html {
  const keep = {
    label: t('provider-dns.keep'),
    calm: true as const,
    question: t('provider-dns.keep-question', { title }),
    yes: t('apps.disconnect'),
    values: { ...domain, removeRecords: 'false' },
  };
  const remove = {
    label: t('provider-dns.remove'),
    question: t('provider-dns.remove-question'),
    yes: t('provider-dns.remove-button'),
    values: { ...domain, removeRecords: 'true' },
  };
  return html`<div>${confirmedAction(visit, 'disconnect', keep)}</div>
    <div>${confirmedAction(visit, 'disconnect', remove)}</div>`;
}

/** Messages of the button that connects. */
type ConnectLabel = 'provider-dns.connect' | 'provider-dns.connect-publish';

interface ConnectInput {
  providers: readonly Provider[];
  domain: Params;
  label: ConnectLabel;
}

function connectForms(visit: Visit, state: PageState, { providers, ...rest }: ConnectInput): HtmlPart {
  const t = translatorOf(visit.request);
  if (!isAllowed(visit, 'connect_dns_provider')) {
    return emptyState(t('provider-dns.none'), t('provider-dns.none-text'));
  }
  const form = formStateFor(state, 'connect');
  return html`<p>${t('provider-dns.about')}</p>
    ${providers.map((one) => connectForm(visit, form, one, rest))}`;
}

function connectForm(
  visit: Visit,
  form: FormState,
  one: Provider,
  { domain, label: connect }: Omit<ConnectInput, 'providers'>,
): Html {
  const { provider, title, scope, credentials } = one;
  const t = translatorOf(visit.request);
  const mine = form.values['provider'] === provider;
  const error = mine ? form.errors['credentials'] : undefined;
  const names = credentials.map(({ name }) => name).join(' ');
  return html`<details class="more" ${mine && html`open`}>
    <summary>${title}</summary>
    <p class="small">${t.rich('provider-dns.needs', { scope: t.english(scope) })}</p>
    ${error !== undefined && html`<p class="wrong">${t.english(error)}</p>`}
    ${actionForm(
      visit,
      'connect',
      t(connect, { title }),
      credentials.map(({ name, label, secret, optional }) =>
        field({
          name: `${CREDENTIAL}${name}`,
          id: `${provider}-${name}`,
          label: t.english(label),
          type: secret ? 'password' : 'text',
          autocomplete: 'off',
          optional: optional && t('field.optional'),
        }),
      ),
      { ...domain, provider, names },
    )}
  </details>`;
}

const LOOKS = {
  create: 'ok',
  replace: 'warn',
  merge: 'warn',
  restore: 'warn',
  delete: 'warn',
  keep: '',
  conflict: 'bad',
  suggest: '',
} as const;

/** The changes, those that do something first, with the button that makes them. */
function previewPanel(visit: Visit, { domain, zone, changes }: OutputOf<typeof previewDnsChanges>): Html {
  const t = translatorOf(visit.request);
  const count = changes.filter(({ action }) => rank({ action }) === 0).length;
  const mayPublish = isAllowed(visit, 'publish_dns_records');
  const suggested = changes.some(({ action }) => action === 'suggest');
  const sorted = changes.toSorted((a, b) => rank(a) - rank(b));
  return html`<section>
    <h2>${t.rich('provider-dns.changes-in', { zone: html`<code>${zone}</code>` })}</h2>
    <p>${count === 0 ? t('provider-dns.no-change') : t('provider-dns.changes', { count })}</p>
    ${changeTable(t, sorted)}
    <div class="stack">
      ${count > 0 && mayPublish && html`<div>${actionButton(visit, 'publish', t('provider-dns.publish'), { [DNS_DOMAIN]: domain }, '')}</div>`}
      ${suggested && mayPublish && html`<div>${actionButton(visit, 'publish', withReports(t, count), { [DNS_DOMAIN]: domain, mergeReports: 'true' }, '')}</div>`}
    </div>
  </section>`;
}

function changeTable(t: Translator, all: readonly Change[]): Html {
  const headings = [t('provider-dns.change'), t('account.name'), t('dns.type'), t('dns.value'), t('provider-dns.note')];
  const rows = all.map((one) => changeRow(t, one));
  return table(t('charts.changes'), headings, rows, t);
}

function changeRow(t: Translator, { action, name, type, value, before, why }: Change): HtmlPart[] {
  const was = html`<code>${before}</code>`;
  const old =
    before !== null &&
    before !== value &&
    html`<br /><span class="soft">${t.rich('provider-dns.before', { value: was })}</span>`;
  return [
    tag(t(`dns-change.${action}`), LOOKS[action]),
    html`<code>${name}</code>`,
    type,
    [value !== null && html`<code>${value}</code>`, old],
    why === null ? '' : t.english(why),
  ];
}

const withReports = (t: Translator, count: number): string =>
  t(count > 0 ? 'provider-dns.publish-reports' : 'provider-dns.reports');

const RANKS: Readonly<Partial<Record<Change['action'], number>>> = { suggest: 1, conflict: 2, keep: 3 };
const rank = ({ action }: Pick<Change, 'action'>): number => RANKS[action] ?? 0;
