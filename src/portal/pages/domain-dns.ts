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
  connected: 'DNS provider connected. Nothing was changed there: preview the changes, then publish them.',
  published: 'DNS records published. Check the DNS in a few minutes, when they are visible.',
  disconnected: 'DNS provider disconnected. Its credentials are deleted.',
};

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
  publish: operationAction('publish_dns_records', 'published', which),
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
    <h2>DNS provider</h2>
    ${providerPanel(visit, state, facts)}
  </section>`;
}

/** Reads the provider of a domain; undefined where the visitor may not see it. */
export async function readDnsProvider(visit: Visit, domainId: string): Promise<ProviderFacts | undefined> {
  if (!isAllowed(visit, 'get_dns_provider')) return undefined;
  return readOperation<typeof getDnsProvider>(visit, 'get_dns_provider', { domainId });
}

/**
 * Forms to connect a provider, or the state of the connected one. `domain`: hidden field of the forms; `verb`: label of the
 * button, before the name of the provider.
 */
export function providerPanel(
  visit: Visit,
  state: PageState,
  facts: ProviderFacts,
  domain: Params = {},
  verb = 'Connect',
): HtmlPart {
  const { connected, providers } = facts;
  return connected === null
    ? connectForms(visit, state, { providers, domain, verb })
    : connection(visit, connected, domain);
}

function connection(visit: Visit, one: NonNullable<ProviderFacts['connected']>, domain: Params): HtmlPart {
  const { title, zone, publishedAt, error } = one;
  return html`<p>
      ${title}, zone <code>${zone}</code>.
      ${publishedAt === null ? 'Not published yet.' : ['Last published ', timestamp(publishedAt), '. New keys and policies are published automatically.']}
    </p>
    ${error !== null && html`<div class="note bad"><p>${error}</p></div>`}
    <div class="stack">
      ${isAllowed(visit, 'preview_dns_changes') && html`<div>${actionButton(visit, 'preview', 'Preview changes', domain, '')}</div>`}
      ${isAllowed(visit, 'disconnect_dns_provider') && disconnection(visit, title, domain)}
    </div>`;
}

function disconnection(visit: Visit, title: string, domain: Params): Html {
  const keep = {
    label: 'Disconnect and keep the records',
    calm: true as const,
    question: `Deletes the credentials of ${title}. The records stay there; later changes are yours.`,
    yes: 'Disconnect',
    values: { ...domain, removeRecords: 'false' },
  };
  const remove = {
    label: 'Disconnect and remove the records',
    question: 'Removes the records that this server wrote, and restores the SPF record. Mail of the domain stops.',
    yes: 'Remove and disconnect',
    values: { ...domain, removeRecords: 'true' },
  };
  return html`<div>${confirmedAction(visit, 'disconnect', keep)}</div>
    <div>${confirmedAction(visit, 'disconnect', remove)}</div>`;
}

interface ConnectInput {
  providers: readonly Provider[];
  domain: Params;
  verb: string;
}

function connectForms(visit: Visit, state: PageState, { providers, ...rest }: ConnectInput): HtmlPart {
  if (!isAllowed(visit, 'connect_dns_provider')) return emptyState('Not connected', 'An owner can connect a provider.');
  const form = formStateFor(state, 'connect');
  return html`<p>Connect the provider to publish the records from here, and to keep them up to date.</p>
    ${providers.map((one) => connectForm(visit, form, one, rest))}`;
}

function connectForm(
  visit: Visit,
  form: FormState,
  one: Provider,
  { domain, verb }: Omit<ConnectInput, 'providers'>,
): Html {
  const { provider, title, scope, credentials } = one;
  const mine = form.values['provider'] === provider;
  const error = mine ? form.errors['credentials'] : undefined;
  const names = credentials.map(({ name }) => name).join(' ');
  return html`<details class="more" ${mine && html`open`}>
    <summary>${title}</summary>
    <p class="small">Needs ${scope}.</p>
    ${error !== undefined && html`<p class="wrong">${error}</p>`}
    ${actionForm(
      visit,
      'connect',
      `${verb} ${title}`,
      credentials.map(({ name, label, secret, optional }) =>
        field({
          name: `${CREDENTIAL}${name}`,
          id: `${provider}-${name}`,
          label,
          type: secret ? 'password' : 'text',
          autocomplete: 'off',
          optional,
        }),
      ),
      { ...domain, provider, names },
    )}
  </details>`;
}

const WORDS = {
  create: ['Create', 'ok'],
  replace: ['Replace', 'warn'],
  merge: ['Merge', 'warn'],
  restore: ['Restore', 'warn'],
  delete: ['Delete', 'warn'],
  keep: ['Unchanged', ''],
  conflict: ['Conflict', 'bad'],
} as const;

/** The changes, those that do something first, with the button that makes them. */
function previewPanel(visit: Visit, { domain, zone, changes }: OutputOf<typeof previewDnsChanges>): Html {
  const count = changes.filter(({ action }) => action !== 'keep' && action !== 'conflict').length;
  const sorted = changes.toSorted((a, b) => rank(a) - rank(b));
  return html`<section>
    <h2>Changes in <code>${zone}</code></h2>
    <p>
      ${count === 0 ? 'Nothing to change.' : `${count} ${count === 1 ? 'record changes' : 'records change'}. Records of others stay.`}
    </p>
    ${table('Changes', ['Change', 'Name', 'Type', 'Value', 'Note'], sorted.map(changeRow))}
    ${count > 0 && isAllowed(visit, 'publish_dns_records') && actionButton(visit, 'publish', 'Publish', { [DNS_DOMAIN]: domain }, '')}
  </section>`;
}

function changeRow({ action, name, type, value, before, why }: Change): HtmlPart[] {
  const [word, look] = WORDS[action];
  const old = before !== null && before !== value && html`<br /><span class="soft">now <code>${before}</code></span>`;
  return [
    tag(word, look),
    html`<code>${name}</code>`,
    type,
    [value !== null && html`<code>${value}</code>`, old],
    why ?? '',
  ];
}

const rank = ({ action }: Change): number => (action === 'keep' ? 2 : action === 'conflict' ? 1 : 0);
