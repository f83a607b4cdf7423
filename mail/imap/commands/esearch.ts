import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { bad, no, ok, type TaggedResponse } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { ImapMailboxInfo } from '../imap-store.ts';
import { bindSearch } from '../search/bind.ts';
import { usesSequenceOrSaved } from '../search/matcher.ts';
import { parseSearch } from '../search/parse.ts';
import type { BadCharset, SearchCommand, SearchReturn, SearchReturns } from '../search/program.ts';
import { hasFuzzy, resolveFuzzy } from '../search/resolve-fuzzy.ts';
import { searchResponse } from '../search/response.ts';
import { badCharset, searchTooLong, watched } from '../search/session-search.ts';
import { type MailboxSource, parseSources, sourceMailboxes } from '../search/sources.ts';
import type { Session } from '../session.ts';
import { mailbox as mailboxName } from '../wire/encoder.ts';

type MultiSearch = Exclude<SearchCommand, BadCharset> & { sources: readonly MailboxSource[] };

/** Options that need a selected mailbox. RFC 7377 2.1. */
const SELECTED_ONLY: readonly SearchReturn[] = ['SAVE', 'UPDATE', 'CONTEXT'];

/** ESEARCH: a search in several mailboxes, which answers UIDs of each. RFC 7377. */
export const esearch: ImapCommand<MultiSearch | BadCharset> = {
  name: 'ESEARCH',
  states: LOGGED_IN,
  allowedUpdates: 'no-expunge',
  capabilities: ['MULTISEARCH'],

  parse(d) {
    d.sp();
    const hasSources = d.maybe('IN ');
    const sources: readonly MailboxSource[] = hasSources ? parseSources(d) : [{ kind: 'SELECTED', names: [] }];
    if (hasSources) d.sp();
    const command = parseSearch(d);
    return command.kind === 'bad-charset' ? command : { ...command, sources };
  },

  async run(session, command, { tag }) {
    if (command.kind === 'bad-charset') return badCharset();
    const refusal = refusalOf(session, command);
    if (refusal !== undefined) return refusal;
    const all = await session.store.mailboxes();
    for (const mailbox of sourceMailboxes(all, command.sources, session.selected?.shared.mailbox)) {
      const found = await searchMailbox(session, tag, command, mailbox);
      if (found === 'too-long') return searchTooLong();
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
    return ok('Searched');
  },
};

/** RFC 7377 2.2: sequence numbers and SAVE need the selected mailbox alone. */
function refusalOf(session: Session, { sources, returns, program }: MultiSearch): TaggedResponse | undefined {
  const isSelected = sources.every(({ kind }) => kind === 'SELECTED');
  if (isSelected && session.selected === undefined) return bad('No mailbox selected');
  if (usesSequenceOrSaved(program)) return bad('Sequence numbers are not allowed in a search of mailboxes. Use UID');
  const option = returns?.options.find((one) => SELECTED_ONLY.includes(one));
  return option === undefined ? undefined : no('CANNOT', `${option} is not available in a search of mailboxes`);
}

const RETURN_ALL: SearchReturns = { options: ['ALL'] };

/** Searches one mailbox; answers nothing for one without matches. RFC 7377 2.1. */
async function searchMailbox(
  session: Session,
  tag: string,
  { program, returns = RETURN_ALL }: MultiSearch,
  { id, name, uidValidity }: ImapMailboxInfo,
): Promise<'done' | 'too-long'> {
  const { store } = session;
  const view = await store.open(id);
  try {
    if (view.gone) return 'done';
    const bound = bindSearch(program, view.uids, view.length, {
      changedSince: (modseq) => view.uidsChangedSince(modseq),
    });
    const fuzzy = hasFuzzy(bound) ? await resolveFuzzy(bound, store, id) : { program: bound, scores: new Map() };
    const found = await watched(session, tag, (signal) => store.search(id, view, fuzzy.program, { signal }));
    if ('kind' in found) return 'too-long';
    if (found.length === 0) return 'done';
    await store.onLabels?.(id);
    const mailbox = ` MAILBOX ${mailboxName(name, session.utf8)} UIDVALIDITY ${uidValidity}`;
    const scores = Array.from(found, (uid) => fuzzy.scores.get(uid) ?? 1);
    session.write(searchResponse({ name: 'SEARCH', tag, uid: true, returns, mailbox }, { numbers: found, scores }));
    return 'done';
  } finally {
    view.close();
  }
}
