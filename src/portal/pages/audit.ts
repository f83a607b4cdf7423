import type { listAuditEvents } from '../../operations/organization/audit.ts';
import { html, type HtmlPart } from '../html.ts';
import type { PlainPortalKey } from '../message-types.ts';
import type { Page } from '../page.ts';
import { field } from '../forms.ts';
import { address, cursorOf, emptyState, pageHead, timestamp, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';

type Event = OutputOf<typeof listAuditEvents>['events'][number];

export const audit: Page = {
  path: '/audit',
  name: 'Audit log',
  translated: true,
  menu: 'Organization',
  needs: 'list_audit_events',
  notices: {},
  actions: {},
  calls: (_visit, { query }) => [{ name: 'list_audit_events', arguments: filterOf(query) }],
  async show(visit, state) {
    const filter = filterOf(state.query);
    const page = { ...cursorOf(state.query), ...filter, limit: 50, verify: 'verify' in state.query };
    const listed = await readOperation<typeof listAuditEvents>(visit, 'list_audit_events', page);
    const all = listed?.events ?? [];
    const t = translatorOf(visit.request);
    const verify = html`<a class="button quiet" href="${visit.base}/audit?verify">${t('audit.verify')}</a>`;
    const reason = t(Object.keys(filter).length > 0 ? 'audit.none-match' : 'audit.none-text');
    return html`${pageHead(t('page.Audit log'), t('audit.about'), verify)}
    ${listed?.chain !== undefined && chain(t, listed.chain)} ${filterForm(t, visit, filter)}
    ${all.length === 0 ? emptyState(t('audit.none'), reason) : eventTable(t, all)}
    ${morePages(t, visit, filter, listed?.nextCursor)}`;
  },
};

type AuditQuery = Readonly<Partial<Record<'actor' | 'operation' | 'target' | 'since' | 'before', string>>>;

/** Conditions from the query string. Days become their begin, the last one its end, UTC. */
function filterOf(query: Readonly<Record<string, unknown>>): AuditQuery {
  const text = (name: string): string => {
    const value = query[name];
    return typeof value === 'string' ? value.trim().slice(0, 320) : '';
  };
  const day = (name: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(text(name)) ? text(name) : '');
  const [from, to] = [day('from'), day('to')];
  const given: Record<string, string> = {
    actor: text('actor'),
    operation: text('operation').slice(0, 64).replaceAll(' ', '_'),
    target: text('target'),
    since: from === '' ? '' : `${from}T00:00:00Z`,
    before: to === '' ? '' : `${to}T23:59:59.999Z`,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

function filterForm(t: Translator, { base }: Visit, { actor, operation, target, since, before }: AuditQuery): HtmlPart {
  const one = (name: string, label: string, value = '', type: 'text' | 'date' = 'text') =>
    field({ name, label, value, type, autocomplete: 'off', optional: true, compact: true });
  return html`<form class="filters" method="get" action="${base}/audit">
    ${one('actor', t('audit.actor'), actor)} ${one('operation', t('audit.operation'), operation)}
    ${one('target', t('audit.target'), target)} ${one('from', t('audit.from'), since?.slice(0, 10), 'date')}
    ${one('to', t('audit.to'), before?.slice(0, 10), 'date')}
    <button class="quiet">${t('audit.filter')}</button>
  </form>`;
}

/** Link to the next page, with the same conditions. */
function morePages(t: Translator, { base }: Visit, filter: AuditQuery, cursor: string | null | undefined): HtmlPart {
  if (typeof cursor !== 'string') return undefined;
  const { since, before, ...words } = filter;
  const query = new URLSearchParams({ ...words, after: cursor });
  if (since !== undefined) query.set('from', since.slice(0, 10));
  if (before !== undefined) query.set('to', before.slice(0, 10));
  return html`<p class="pages"><a href="${base}/audit?${query.toString()}">${t('layout.more')} &rarr;</a></p>`;
}

function chain(t: Translator, { intact, firstBroken }: { intact: boolean; firstBroken: string | null }): HtmlPart {
  return intact
    ? html`<div class="note" role="status">
        <p>${t('audit.intact')}</p>
      </div>`
    : html`<div class="note bad" role="alert">
        <p><strong>${t('audit.tampered')}</strong> ${t('audit.broken', { entry: firstBroken ?? '' })}</p>
      </div>`;
}

const GOOD = new Set(['done', 'made', 'claimed', 'proven', 'joined', 'added', 'created', 'set', 'removed', 'revoked']);
const PROTOCOLS: Readonly<Record<string, string>> = { mcp: 'MCP', rest: 'HTTP', jmap: 'JMAP' };
const WAYS: Readonly<Record<string, PlainPortalKey>> = {
  'mcp-session': 'way.session',
  imap: 'way.program',
  portal: 'way.browser',
  'command-line': 'way.command-line',
  box: 'way.server',
  mail: 'way.mail',
};

function wayOf(t: Translator, way: string): string {
  const message = WAYS[way];
  return message === undefined ? (PROTOCOLS[way] ?? way) : t(message);
}

/** Events of the log. Names of operations, details and outcomes are those of the interface: English. */
export function eventTable(t: Translator, all: readonly Event[]): HtmlPart {
  return table(
    t('page.Audit log'),
    [t('charts.time'), t('audit.actor'), t('audit.operation'), t('audit.outcome')],
    all.map((one) => [
      [
        timestamp(one.at, t),
        one.sha256 !== undefined && html` <code class="small soft">${one.id} ${one.sha256}</code>`,
      ],
      [
        address(one.actorName === '' ? one.actor : one.actorName),
        html` <span class="soft">${wayOf(t, one.way)}${one.ip !== '' && `, ${one.ip}`}</span>`,
      ],
      [
        t.english(words(one.operation)),
        one.target !== '' && html` <span class="soft">${t.english(`${one.target}${detail(one)}`)}</span>`,
      ],
      tag(t.english(words(one.outcome)), GOOD.has(one.outcome) ? 'ok' : ''),
    ]),
    t,
  );
}

function words(name: string): string {
  return name.replace(/[_-]/g, ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function detail({ detail: facts }: Event): string {
  const shown = Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${words(name)} ${Array.isArray(value) ? value.join(', ') : String(value)}`);
  return shown.length === 0 ? '' : ` (${shown.join('; ')})`;
}

/** The latest events, for the overview. */
export async function recentEvents(visit: Visit): Promise<readonly Event[] | undefined> {
  return (await readOperation<typeof listAuditEvents>(visit, 'list_audit_events', { limit: 6 }))?.events;
}
