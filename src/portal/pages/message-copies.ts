import { DELETED, SEEN } from '../../../mail/store/mailbox/flags.ts';
import { filterResultsOf, type StoredFilterResult } from '../../../mail/store/filter/filter-result.ts';
import { publicId } from '../../core/ids.ts';
import { folderStays, type FolderStay } from '../../trace/copy-queries.ts';
import { address, emptyState, table, tag, timestamp } from '../components.ts';
import { html, type HtmlPart } from '../html.ts';
import type { Translator } from '../translator.ts';
import { isAllowed, type Visit } from '../visit.ts';

/** The copies of a message in mailboxes: folders and the filter's result. */
export interface MessageCopies {
  stays: readonly FolderStay[];
  results: readonly StoredFilterResult[];
}

/** Reads the copies, for visitors who may list the messages of the mailboxes; `messageIds` as of the log. */
export async function readMessageCopies(visit: Visit, messageIds: readonly string[]): Promise<MessageCopies> {
  if (!isAllowed(visit, 'list_messages')) return { stays: [], results: [] };
  const emails = messageIds.map((id) => Number(id.slice('msg_'.length)));
  const { store } = visit.context;
  const stays = await store.read(folderStays, { tenant: visit.membership.organization, emails });
  const own = new Set(stays.map(({ email }) => email));
  const results = await store.read(filterResultsOf, { emails: emails.filter((one) => own.has(one)) });
  return { stays, results: [...results.values()] };
}

/** Folders that the copies are in now. */
export function folderTable(t: Translator, { base }: Visit, { stays }: MessageCopies): HtmlPart {
  if (stays.length === 0) return undefined;
  const here = stays.filter(({ until }) => until === null);
  return html`<section>
    <h2>${t('log.folders')}</h2>
    ${
      here.length === 0
        ? emptyState(t('deleted.deleted'), t('log.left'))
        : table(
            t('log.folders'),
            [t('page.Mailbox'), t('deleted.folder'), t('domains.status'), t('queue.since')],
            here.map((stay) => [
              html`<a href="${base}/mailboxes/${publicId('mailbox', stay.account)}">${address(stay.address)}</a>`,
              folderLink(base, stay),
              statusOf(t, stay),
              stay.since === null ? '' : timestamp(stay.since, t),
            ]),
            t,
          )
    }
  </section>`;
}

function folderLink(base: string, { role, folder, account }: FolderStay): HtmlPart {
  if (role !== 'junk') return folder;
  return html`<a href="${base}/mailboxes/${publicId('mailbox', account)}/junk">${folder}</a>`;
}

function statusOf(t: Translator, { flags }: FolderStay): HtmlPart {
  if ((flags & DELETED) !== 0) return tag(t('log.marked'), 'warn');
  return (flags & SEEN) === 0 ? tag(t('log.unread')) : tag(t('log.read'), 'ok');
}

const OUTCOMES = { inbox: 'ok', junk: 'warn', rejects: 'bad' } as const;

const LOOKS = { pass: 'ok', fail: 'bad', none: '' } as const;

/** The filter's result: authentication, and each finding with its score, the worst first. */
export function filterSection(t: Translator, { results }: MessageCopies): HtmlPart {
  const [result] = results;
  if (result === undefined) return undefined;
  const { verdict, trust } = result;
  const findings = verdict.findings.toSorted((a, b) => b.score - a.score);
  return html`<section>
    <h2>${t('log.filter')}</h2>
    <p>
      ${tag(t(`log.outcome-${verdict.outcome}`), OUTCOMES[verdict.outcome])}
      ${t('log.score', { score: String(verdict.score) })}
    </p>
    <p>
      ${(['spf', 'dkim', 'dmarc'] as const).map((one) => [tag(`${one.toUpperCase()} ${trust.auth[one]}`, LOOKS[trust.auth[one]]), ' '])}
      ${tag(t(trust.knownSender ? 'log.known' : 'log.first'))}
    </p>
    ${
      findings.length === 0
        ? html`<p class="soft">${t('log.no-findings')}</p>`
        : table(
            t('log.findings'),
            [t('checks.finding'), t('log.points')],
            findings.map(({ why, score }) => [html`<span class="reason">${t.english(why)}</span>`, score]),
            t,
          )
    }
  </section>`;
}
