import type { listAuditEvents } from '../../operations/organization/audit.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { address, cursorOf, emptyState, pageHead, timestamp, nextPage, table, tag } from '../components.ts';
import { type OutputOf, readOperation, type Visit } from '../visit.ts';

type Event = OutputOf<typeof listAuditEvents>['events'][number];

export const audit: Page = {
  path: '/audit',
  name: 'Audit log',
  menu: 'Organization',
  needs: 'list_audit_events',
  notices: {},
  actions: {},
  async show(visit, state) {
    const page = { ...cursorOf(state.query), limit: 50, verify: 'verify' in state.query };
    const listed = await readOperation<typeof listAuditEvents>(visit, 'list_audit_events', page);
    const all = listed?.events ?? [];
    const verify = html`<a class="button quiet" href="${visit.base}/audit?verify">Verify integrity</a>`;
    return html`${pageHead('Audit log', 'All changes with actor and origin. Entries cannot be changed or removed.', verify)}
    ${listed?.chain !== undefined && chain(listed.chain)}
    ${all.length === 0 ? emptyState('No entries', 'Every change is recorded here.') : eventTable(all)}
    ${nextPage(`${visit.base}/audit`, listed?.nextCursor)}`;
  },
};

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
