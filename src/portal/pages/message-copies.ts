import { DELETED, SEEN } from '../../../mail/store/mailbox/flags.ts';
import { filterResultsOf, type StoredFilterResult } from '../../../mail/store/filter/filter-result.ts';
import { publicId } from '../../core/ids.ts';
import { folderStays, type FolderStay } from '../../trace/copy-queries.ts';
import { address, emptyState, table, tag, timestamp } from '../components.ts';
import { html, type HtmlPart } from '../html.ts';
import { isAllowed, type Visit } from '../visit.ts';

/** The copies of a message in mailboxes: folders and the filter's result. */
export interface MessageCopies {
  stays: readonly FolderStay[];
  results: readonly StoredFilterResult[];
}

/** Reads the copies, for visitors who may list the messages of the mailboxes; `messageIds` as of the log. */
export async function copiesOf(visit: Visit, messageIds: readonly string[]): Promise<MessageCopies> {
  if (!isAllowed(visit, 'list_messages')) return { stays: [], results: [] };
  const emails = messageIds.map((id) => Number(id.slice('msg_'.length)));
  const { store } = visit.context;
  const stays = await store.read(folderStays, { tenant: visit.membership.organization, emails });
  const own = new Set(stays.map(({ email }) => email));
  const results = await store.read(filterResultsOf, { emails: emails.filter((one) => own.has(one)) });
  return { stays, results: [...results.values()] };
}

/** Folders that the copies are in now. */
export function folderTable({ base }: Visit, { stays }: MessageCopies): HtmlPart {
  if (stays.length === 0) return undefined;
  const here = stays.filter(({ until }) => until === null);
  return html`<section>
    <h2>Folders</h2>
    ${
      here.length === 0
        ? emptyState('Deleted', 'The message left all folders. Restore it from the page Deleted of its mailbox.')
        : table(
            'Folders',
            ['Mailbox', 'Folder', 'Status', 'Since'],
            here.map((stay) => [
              html`<a href="${base}/mailboxes/${publicId('mailbox', stay.account)}">${address(stay.address)}</a>`,
              folderLink(base, stay),
              statusOf(stay),
              stay.since === null ? '' : timestamp(stay.since),
            ]),
          )
    }
  </section>`;
}

function folderLink(base: string, { role, folder, account }: FolderStay): HtmlPart {
  if (role !== 'junk') return folder;
  return html`<a href="${base}/mailboxes/${publicId('mailbox', account)}/junk">${folder}</a>`;
}

function statusOf({ flags }: FolderStay): HtmlPart {
  if ((flags & DELETED) !== 0) return tag('Marked as deleted', 'warn');
  return (flags & SEEN) === 0 ? tag('Unread') : tag('Read', 'ok');
}

const OUTCOMES = {
  inbox: tag('Inbox', 'ok'),
  junk: tag('Junk', 'warn'),
  rejects: tag('Rejected', 'bad'),
} as const;

const LOOKS = { pass: 'ok', fail: 'bad', none: '' } as const;

/** The filter's result: authentication, and each finding with its score, the worst first. */
export function filterSection({ results }: MessageCopies): HtmlPart {
  const [result] = results;
  if (result === undefined) return undefined;
  const { verdict, trust } = result;
  const findings = verdict.findings.toSorted((a, b) => b.score - a.score);
  return html`<section>
    <h2>Filter</h2>
    <p>${OUTCOMES[verdict.outcome]} Score ${verdict.score}; from 5 on a message is junk.</p>
    <p>
      ${(['spf', 'dkim', 'dmarc'] as const).map((one) => [tag(`${one.toUpperCase()} ${trust.auth[one]}`, LOOKS[trust.auth[one]]), ' '])}
      ${tag(trust.knownSender ? 'Known sender' : 'First message of this sender')}
    </p>
    ${
      findings.length === 0
        ? html`<p class="soft">No findings.</p>`
        : table(
            'Findings',
            ['Finding', 'Score'],
            findings.map(({ why, score }) => [html`<span class="reason">${why}</span>`, score]),
          )
    }
  </section>`;
}
