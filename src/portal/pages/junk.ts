import type { listMessages } from '../../operations/reading/list.ts';
import { rowId } from '../../core/ids.ts';
import { cursorOf, nextPage } from '../components.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { translatorOf } from '../translator.ts';
import { readOperation } from '../visit.ts';
import { JUNK_ACTIONS, JUNK_NOTICES, junkTable, noJunk } from './junk-table.ts';
import { mailboxPage } from './mailbox-tabs.ts';

/** Junk of a mailbox: why each message lies there, and what to do with it. */
export const junk: Page = {
  ...mailboxPage('junk', {
    translated: true,
    notices: JUNK_NOTICES,
    actions: JUNK_ACTIONS,
    async show(visit, { query }, { id }) {
      const page = { mailbox: id, folder: 'junk', limit: 25, ...cursorOf(query) };
      const listed = await readOperation<typeof listMessages>(visit, 'list_messages', page);
      const t = translatorOf(visit.request);
      const account = rowId('mailbox', id) ?? 0;
      const lines = (listed?.messages ?? []).map((message) => ({ account, message }));
      return html`${lines.length === 0 ? noJunk(t) : await junkTable(visit, lines)}
      ${nextPage(`${visit.base}/mailboxes/${id}/junk`, listed?.nextCursor, t)}`;
    },
  }),
  calls: (_visit, { params }) => [
    { name: 'list_messages', arguments: { mailbox: params['id'] ?? '', folder: 'junk' } },
  ],
};
