import type { listAuditEvents } from '../../operations/organization/audit.ts';
import { html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import { address, cursorOf, empty, head, moment, nextPage, table, tag } from '../parts.ts';
import { type Answer, read, type Visit } from '../visit.ts';

type Event = Answer<typeof listAuditEvents>['events'][number];

export const audit: Page = {
  path: '/audit',
  name: 'Audit log',
  menu: 'Organization',
  needs: 'list_audit_events',
  done: {},
  acts: {},
  async show(visit, state) {
    const page = { ...cursorOf(state.query), limit: 50, verify: 'verify' in state.query };
    const listed = await read<typeof listAuditEvents>(visit, 'list_audit_events', page);
    const all = listed?.events ?? [];
    const verify = html`<a class="button quiet" href="${visit.base}/audit?verify">Check that it is whole</a>`;
    return html`${head('Audit log', 'Who did what, from where. Nothing in it can be changed or taken out.', verify)}
    ${listed?.chain !== undefined && chain(listed.chain)}
    ${all.length === 0 ? empty('Nothing happened yet', 'Every change is written down here.') : eventTable(all)}
    ${nextPage(`${visit.base}/audit`, listed?.nextCursor)}`;
  },
};

function chain({ intact, firstBroken }: { intact: boolean; firstBroken: string | null }): Part {
  return intact
    ? html`<div class="note" role="status">
        <p>Every row follows from the one before it: nothing was changed or removed.</p>
      </div>`
    : html`<div class="note bad" role="alert">
        <p><strong>The log was tampered with:</strong> row ${firstBroken} does not follow from the one before it.</p>
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

export function eventTable(all: readonly Event[]): Part {
  return table(
    'Audit log',
    ['When', 'Who', 'What', 'Outcome'],
    all.map((one) => [
      [moment(one.at), one.sha256 !== undefined && html` <code class="small soft">${one.id} ${one.sha256}</code>`],
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
  const told = Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${words(name)} ${Array.isArray(value) ? value.join(', ') : String(value)}`);
  return told.length === 0 ? '' : ` (${told.join('; ')})`;
}

/** The newest few, for the first page. */
export async function newest(visit: Visit): Promise<readonly Event[] | undefined> {
  return (await read<typeof listAuditEvents>(visit, 'list_audit_events', { limit: 6 }))?.events;
}
