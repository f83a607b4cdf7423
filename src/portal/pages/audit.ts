import type { listAuditEvents } from '../../operations/organization/audit.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { field } from '../forms.ts';
import { address, cursorOf, emptyState, pageHead, timestamp, table, tag } from '../components.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';

type Event = OutputOf<typeof listAuditEvents>['events'][number];

export const audit: Page = {
  path: '/audit',
  name: 'Audit log',
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
    const verify = html`<a class="button quiet" href="${visit.base}/audit?verify">Verify integrity</a>`;
    return html`${pageHead('Audit log', 'All changes with actor and origin. Entries cannot be changed or removed.', verify)}
    ${listed?.chain !== undefined && chain(listed.chain)} ${filterForm(visit, filter)}
    ${all.length === 0 ? emptyState('No entries', Object.keys(filter).length > 0 ? 'No entry matches the filter.' : 'Every change is recorded here.') : eventTable(all)}
    ${morePages(visit, filter, listed?.nextCursor)}`;
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

function filterForm({ base }: Visit, { actor, operation, target, since, before }: AuditQuery): HtmlPart {
  const one = (name: string, label: string, value = '', type: 'text' | 'date' = 'text') =>
    field({ name, label, value, type, autocomplete: 'off', optional: true, compact: true });
  return html`<form class="filters" method="get" action="${base}/audit">
    ${one('actor', 'Actor', actor)} ${one('operation', 'Operation', operation)} ${one('target', 'Target', target)}
    ${one('from', 'From', since?.slice(0, 10), 'date')} ${one('to', 'To', before?.slice(0, 10), 'date')}
    <button class="quiet">Filter</button>
  </form>`;
}

/** Link to the next page, with the same conditions. */
function morePages({ base }: Visit, filter: AuditQuery, cursor: string | null | undefined): HtmlPart {
  if (typeof cursor !== 'string') return undefined;
  const { since, before, ...words } = filter;
  const query = new URLSearchParams({ ...words, after: cursor });
  if (since !== undefined) query.set('from', since.slice(0, 10));
  if (before !== undefined) query.set('to', before.slice(0, 10));
  return html`<p class="pages"><a href="${base}/audit?${query.toString()}">More &rarr;</a></p>`;
}

function chain({ intact, firstBroken }: { intact: boolean; firstBroken: string | null }): HtmlPart {
  return intact
    ? html`<div class="note" role="status">
        <p>Intact: the hash chain is complete, no entry was changed or removed.</p>
      </div>`
    : html`<div class="note bad" role="alert">
        <p><strong>Tampered:</strong> the hash chain breaks at entry ${firstBroken}.</p>
      </div>`;
}

const GOOD = new Set(['done', 'made', 'claimed', 'proven', 'joined', 'added', 'created', 'set', 'removed', 'revoked']);
const WAYS: Readonly<Record<string, string>> = {
  mcp: 'MCP',
  'mcp-session': 'MCP session',
  rest: 'HTTP',
  jmap: 'JMAP',
  imap: 'mail program',
  portal: 'browser',
  'command-line': 'command line',
  box: 'this server',
  mail: 'mail',
};

export function eventTable(all: readonly Event[]): HtmlPart {
  return table(
    'Audit log',
    ['Time', 'Actor', 'Operation', 'Outcome'],
    all.map((one) => [
      [timestamp(one.at), one.sha256 !== undefined && html` <code class="small soft">${one.id} ${one.sha256}</code>`],
      [
        address(one.actorName === '' ? one.actor : one.actorName),
        html` <span class="soft">${WAYS[one.way] ?? one.way}${one.ip !== '' && `, ${one.ip}`}</span>`,
      ],
      [words(one.operation), one.target !== '' && html` <span class="soft">${one.target}${detail(one)}</span>`],
      tag(words(one.outcome), GOOD.has(one.outcome) ? 'ok' : ''),
    ]),
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
