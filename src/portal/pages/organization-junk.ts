import { publicId } from '../../core/ids.ts';
import { rowIn } from '../../core/message-ids.ts';
import type { listMessages } from '../../operations/reading/list.ts';
import { type JunkRow, newestJunk } from '../../reading/junk-queries.ts';
import { nextPage, pageHead } from '../components.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { translatorOf } from '../translator.ts';
import { readOperation, type Visit } from '../visit.ts';
import { JUNK_ACTIONS, JUNK_NOTICES, type JunkLine, junkTable, noJunk } from './junk-table.ts';

const PAGE_SIZE = 25;
/** Most messages that list_messages returns. */
const MAX_LISTED = 50;

/** Junk of all mailboxes that the visitor may read, newest first. */
export const organizationJunk: Page = {
  path: '/junk',
  name: 'Junk',
  translated: true,
  menu: 'Mail',
  needs: 'list_messages',
  notices: JUNK_NOTICES,
  actions: JUNK_ACTIONS,
  calls: () => [
    { name: 'list_emails', arguments: {} },
    { name: 'list_messages', arguments: { mailbox: 'ADDRESS', folder: 'junk' } },
  ],
  async show(visit, { query }) {
    const rows = await visit.context.store.read(newestJunk, {
      tenant: visit.membership.organization,
      accounts: visit.caller.mailboxes,
      before: cursorIn(query['after']),
      limit: PAGE_SIZE + 1,
    });
    const page = rows.slice(0, PAGE_SIZE);
    const last = page.at(-1);
    const next = rows.length > PAGE_SIZE && last !== undefined ? `${last.receivedAt}-${last.email}` : null;
    const lines = await linesOf(visit, page);
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Junk'), t('junk.about'))}
    ${lines.length === 0 ? noJunk(t) : await junkTable(visit, lines)} ${nextPage(`${visit.base}/junk`, next, t)}`;
  },
};

function cursorIn(after: unknown): Pick<JunkRow, 'receivedAt' | 'email'> | undefined {
  const [, receivedAt, email] = /^(\d{1,15})-(\d{1,16})$/.exec(typeof after === 'string' ? after : '') ?? [];
  return receivedAt === undefined ? undefined : { receivedAt: Number(receivedAt), email: Number(email) };
}

/** Reads the messages of the rows, one call a mailbox; leaves out mailboxes that the visitor may not read. */
async function linesOf(visit: Visit, rows: readonly JunkRow[]): Promise<JunkLine[]> {
  const mailboxes = Map.groupBy(rows, ({ account }) => account);
  const found = await Promise.all([...mailboxes].map(([account, own]) => messagesOf(visit, account, own)));
  const byEmail = new Map(found.flat());
  return rows.flatMap(({ email }) => byEmail.get(email) ?? []);
}

async function messagesOf(
  visit: Visit,
  account: number,
  rows: readonly JunkRow[],
): Promise<(readonly [number, JunkLine])[]> {
  const [newest] = rows;
  if (newest === undefined) return [];
  const before = new Date(newest.receivedAt + 1).toISOString();
  const input = { mailbox: publicId('mailbox', account), folder: 'junk', limit: MAX_LISTED, before };
  const listed = await readOperation<typeof listMessages>(visit, 'list_messages', input);
  const { address } = newest;
  return (listed?.messages ?? []).map((message) => [
    rowIn('email', account, message.id) ?? 0,
    { account, address, message },
  ]);
}
