import { filterResultsOf, type StoredFilterResult } from '../../../mail/store/filter/filter-result.ts';
import type { listMessages } from '../../operations/reading/list.ts';
import { rowIn } from '../../core/message-ids.ts';
import { rowId } from '../../core/ids.ts';
import { cursorOf, emptyState, nextPage, quotedText, table, timestamp } from '../components.ts';
import { rowCheckbox, selectAllCheckbox } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { bulkForm, operationAction, type Page, type PageAction } from '../page.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';
import { mailboxPage } from './mailbox-tabs.ts';

type JunkMessage = OutputOf<typeof listMessages>['messages'][number];

const MAX_REASONS = 3;

/** Junk of a mailbox: why each message lies there, and what to do with it. */
export const junk: Page = {
  ...mailboxPage('junk', {
    notices: {
      released: 'Moved to the inbox. The filter learns from it.',
      deleted: 'Moved to the trash.',
    },
    actions: {
      release: forChecked('update_message', 'released', { folder: 'inbox' }),
      delete: forChecked('trash_message', 'deleted', {}),
    },
    async show(visit, { query }, { id }) {
      const page = { mailbox: id, folder: 'junk', limit: 25, ...cursorOf(query) };
      const listed = await readOperation<typeof listMessages>(visit, 'list_messages', page);
      const all = listed?.messages ?? [];
      return html`${all.length === 0 ? NONE : await junkList(visit, id, all)}
      ${nextPage(`${visit.base}/mailboxes/${id}/junk`, listed?.nextCursor)}`;
    },
  }),
  calls: (_visit, { params }) => [
    { name: 'list_messages', arguments: { mailbox: params['id'] ?? '', folder: 'junk' } },
  ],
};

const NONE = emptyState(
  'No junk',
  'Messages that the filter files as junk are listed here for 30 days, with the reasons.',
);

function forChecked(operation: string, notice: string, more: Readonly<Record<string, string>>): PageAction {
  const act = operationAction(operation, notice, (fields, params) => ({
    mailbox: params['id'],
    messageIds: fields.list('messageIds'),
    ...more,
  }));
  const checked: PageAction = async (visit, fields, params) =>
    fields.list('messageIds').length === 0
      ? { kind: 'refused', form: { values: {}, errors: {}, problem: 'No changes made: select at least one message.' } }
      : act(visit, fields, params);
  return Object.assign(checked, { operation });
}

async function junkList(visit: Visit, mailbox: string, all: readonly JunkMessage[]): Promise<HtmlPart> {
  const account = rowId('mailbox', mailbox) ?? 0;
  const rows = new Map(all.map(({ id }) => [id, rowIn('email', account, id) ?? 0]));
  const results = await visit.context.store.read(filterResultsOf, { emails: [...rows.values()] });
  const list = table(
    'Junk',
    ['Select', 'From', 'Subject', 'Reasons', 'Received'],
    all.map((one) => [
      rowCheckbox('messageIds', one.id, `the message from ${one.from?.address ?? 'nobody'}`),
      one.from === null ? 'No address' : quotedText(one.from.address),
      quotedText(one.untrusted.subject === '' ? '(no subject)' : one.untrusted.subject),
      [reasons(results.get(rows.get(one.id) ?? 0)), timelineLink(visit, one)],
      timestamp(one.receivedAt),
    ]),
  );
  if (!isAllowed(visit, 'update_message')) return list;
  return bulkForm(
    visit,
    [selectAllCheckbox('messageIds'), list],
    [
      ['release', 'Not junk'],
      ['delete', 'Delete'],
    ],
  );
}

function timelineLink(visit: Visit, { id, untrusted }: JunkMessage): HtmlPart {
  if (!isAllowed(visit, 'trace_message')) return undefined;
  const of = untrusted.subject === '' ? 'the message without a subject' : untrusted.subject;
  return html` <a href="${visit.base}/trace?q=${id}" aria-label="Timeline of ${of}">Timeline</a>`;
}

/** The findings that count most, in words, with the score. */
function reasons(result: StoredFilterResult | undefined): HtmlPart {
  const against = (result?.verdict.findings ?? []).filter(({ score }) => score > 0);
  if (result === undefined || against.length === 0) return 'Moved here by a person, a program or a rule.';
  const worst = against.toSorted((a, b) => b.score - a.score).slice(0, MAX_REASONS);
  return html`${worst.map(({ why }) => html`<span class="reason">${why}</span>`)}
    <span class="soft">Score ${result.verdict.score}</span>`;
}
