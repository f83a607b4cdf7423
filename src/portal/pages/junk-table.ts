import { filterResultsOf, type StoredFilterResult } from '../../../mail/store/filter/filter-result.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { accountIn, rowIn } from '../../core/message-ids.ts';
import type { listMessages } from '../../operations/reading/list.ts';
import { address, emptyState, quotedText, table, timestamp } from '../components.ts';
import { rowCheckbox, selectAllCheckbox } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { bulkForm, type Page, type PageAction, refusedForm } from '../page.ts';
import { callOperation, isAllowed, type OutputOf, type Visit } from '../visit.ts';

export type JunkMessage = OutputOf<typeof listMessages>['messages'][number];

/** A message of the list, with its mailbox. */
export interface JunkLine {
  account: number;
  /** Address of the mailbox; undefined on the page of the mailbox. */
  address?: string;
  message: JunkMessage;
}

const MAX_REASONS = 3;

export const NO_JUNK = emptyState(
  'No junk',
  'Messages that the filter files as junk are listed here for 30 days, with the reasons.',
);

export const JUNK_NOTICES: Page['notices'] = {
  released: 'Moved to the inbox. The filter learns from it.',
  deleted: 'Moved to the trash.',
};

export const JUNK_ACTIONS: Page['actions'] = {
  release: forChecked('update_message', 'released', { folder: 'inbox' }),
  delete: forChecked('trash_message', 'deleted', {}),
};

/** Calls an operation for the checked messages, once a mailbox. */
function forChecked(operation: string, notice: string, more: Readonly<Record<string, string>>): PageAction {
  const act: PageAction = async (visit, fields, params) => {
    const ids = fields.list('messageIds');
    if (ids.length === 0) return { kind: 'refused', form: NONE_CHECKED };
    const mailboxes = Map.groupBy(ids, (id) => accountIn(id) ?? rowId('mailbox', params['id'] ?? '') ?? 0);
    for (const [account, messageIds] of mailboxes) {
      const input = { mailbox: publicId('mailbox', account), messageIds, ...more };
      const done = await callOperation(visit, operation, input);
      if (done.kind === 'refused') return { kind: 'refused', form: refusedForm({}, done.refusal) };
    }
    return { kind: 'done', notice };
  };
  return Object.assign(act, { operation });
}

const NONE_CHECKED = { values: {}, errors: {}, problem: 'No changes made: select at least one message.' };

/** The list of junk with the reasons of the filter, and buttons for the checked messages. */
export async function junkTable(visit: Visit, lines: readonly JunkLine[]): Promise<HtmlPart> {
  const emails = lines.map(({ account, message }) => rowIn('email', account, message.id) ?? 0);
  const results = await visit.context.store.read(filterResultsOf, { emails });
  const withMailbox = lines.some((line) => line.address !== undefined);
  const list = table(
    'Junk',
    ['Select', 'From', 'Subject', ...(withMailbox ? ['Mailbox'] : []), 'Reasons', 'Received'],
    lines.map(({ message, address: mailbox }, i) => [
      rowCheckbox('messageIds', message.id, `the message from ${message.from?.address ?? 'nobody'}`),
      message.from === null ? 'No address' : quotedText(message.from.address),
      quotedText(message.untrusted.subject === '' ? '(no subject)' : message.untrusted.subject),
      ...(mailbox === undefined ? [] : [address(mailbox)]),
      [reasons(results.get(emails[i] ?? 0)), timelineLink(visit, message)],
      timestamp(message.receivedAt),
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
