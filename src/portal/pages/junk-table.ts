import { filterResultsOf, type StoredFilterResult } from '../../../mail/store/filter/filter-result.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { accountIn, rowIn } from '../../core/message-ids.ts';
import type { listMessages } from '../../operations/reading/list.ts';
import { address, emptyState, quotedText, table, timestamp } from '../components.ts';
import { type FormState, rowCheckbox, selectAllCheckbox } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { bulkForm, type Page, type PageAction, refusedForm } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { runOperation, isAllowed, type OutputOf, type Visit } from '../visit.ts';

export type JunkMessage = OutputOf<typeof listMessages>['messages'][number];

/** A message of the list, with its mailbox. */
export interface JunkLine {
  account: number;
  /** Address of the mailbox; undefined on the page of the mailbox. */
  address?: string;
  message: JunkMessage;
}

const MAX_REASONS = 3;

export function noJunk(t: Translator): HtmlPart {
  return emptyState(t('junk.none'), t('junk.none-text'));
}

export const JUNK_NOTICES: Page['notices'] = {
  released: { message: 'junk.released' },
  deleted: { message: 'junk.deleted' },
};

export const JUNK_ACTIONS: Page['actions'] = {
  release: forChecked('update_message', 'released', { folder: 'inbox' }),
  delete: forChecked('trash_message', 'deleted', {}),
};

/** Calls an operation for the checked messages, once a mailbox. */
function forChecked(operation: string, notice: string, more: Readonly<Record<string, string>>): PageAction {
  const act: PageAction = async (visit, fields, params) => {
    const ids = fields.list('messageIds');
    if (ids.length === 0) return { kind: 'refused', form: noneChecked(translatorOf(visit.request)) };
    const mailboxes = Map.groupBy(ids, (id) => accountIn(id) ?? rowId('mailbox', params['id'] ?? '') ?? 0);
    for (const [account, messageIds] of mailboxes) {
      const input = { mailbox: publicId('mailbox', account), messageIds, ...more };
      const done = await runOperation(visit, operation, input);
      if (done.kind === 'refused')
        return { kind: 'refused', form: { ...refusedForm({}, done.refusal), errorLanguage: 'en' } };
    }
    return { kind: 'done', notice };
  };
  return Object.assign(act, { operation });
}

function noneChecked(t: Translator): FormState {
  return { values: {}, errors: {}, problem: t('junk.none-checked') };
}

/** The list of junk with the reasons of the filter, and buttons for the checked messages. */
export async function junkTable(visit: Visit, lines: readonly JunkLine[]): Promise<HtmlPart> {
  const emails = lines.map(({ account, message }) => rowIn('email', account, message.id) ?? 0);
  const results = await visit.context.store.read(filterResultsOf, { emails });
  const t = translatorOf(visit.request);
  const withMailbox = lines.some((line) => line.address !== undefined);
  const list = table(
    t('page.Junk'),
    [
      t('junk.select'),
      t('approval.from'),
      t('approval.subject'),
      ...(withMailbox ? [t('page.Mailbox')] : []),
      t('approval.reasons'),
      t('junk.received'),
    ],
    lines.map(({ message, address: mailbox }, i) => [
      rowCheckbox(
        'messageIds',
        message.id,
        t('junk.select-one', { sender: message.from?.address ?? t('junk.nobody') }),
      ),
      message.from === null ? t('junk.no-address') : quotedText(message.from.address),
      quotedText(message.untrusted.subject === '' ? t('junk.no-subject') : message.untrusted.subject),
      ...(mailbox === undefined ? [] : [address(mailbox)]),
      [reasons(t, results.get(emails[i] ?? 0)), timelineLink(t, visit, message)],
      timestamp(message.receivedAt, t),
    ]),
    t,
  );
  if (!isAllowed(visit, 'update_message')) return list;
  return bulkForm(
    visit,
    [selectAllCheckbox('messageIds', t('junk.select-all')), list],
    [
      ['release', t('junk.not-junk')],
      ['delete', t('mailbox.delete-button')],
    ],
  );
}

function timelineLink(t: Translator, visit: Visit, { id, untrusted }: JunkMessage): HtmlPart {
  if (!isAllowed(visit, 'trace_message')) return undefined;
  const of = untrusted.subject === '' ? t('junk.no-subject-long') : untrusted.subject;
  return html` <a href="${visit.base}/trace?q=${id}" aria-label="${t('junk.timeline-of', { subject: of })}"
    >${t('junk.timeline')}</a
  >`;
}

/** The findings that count most, in words, with the score. */
function reasons(t: Translator, result: StoredFilterResult | undefined): HtmlPart {
  const against = (result?.verdict.findings ?? []).filter(({ score }) => score > 0);
  if (result === undefined || against.length === 0) return t('junk.moved');
  const worst = against.toSorted((a, b) => b.score - a.score).slice(0, MAX_REASONS);
  return html`${worst.map(({ why }) => html`<span class="reason">${t.english(why)}</span>`)}
    <span class="soft">${t('junk.score', { score: String(result.verdict.score) })}</span>`;
}
