import { enableCondstore } from '../condstore.ts';
import { usesModseq } from '../search/bind.ts';
import { bad, ok, type TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { CommandCall, ImapCommand } from '../command.ts';
import { parseSearch, parseSort, parseThread } from '../search/parse.ts';
import type { FoundMessages, SearchCommand, SearchReturns, SortCommand, ThreadCommand } from '../search/program.ts';
import type { ContextEvaluation, FollowedSearch } from '../search/contexts.ts';
import { foundModseq, savedPart, searchResponse } from '../search/response.ts';
import { badCharset, numbersOf, searchSelected, searchTooLong, threadSelected } from '../search/session-search.ts';
import type { Session } from '../session.ts';

/** SEARCH and UID SEARCH. RFC 9051 6.4.4, RFC 4731, RFC 5182, RFC 6203. */
export const search: ImapCommand<SearchCommand> = {
  name: 'SEARCH',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  capabilities: [
    'ESEARCH',
    'WITHIN',
    'SEARCHRES',
    'SEARCH=FUZZY',
    'PARTIAL',
    'CONTEXT=SEARCH',
    'INPROGRESS',
    'I18NLEVEL=1',
  ],
  parse: (d) => parseSearch(d.sp()),

  async run(session, command, call) {
    if (command.kind === 'bad-charset') return clearSaved(session, command.returns, badCharset());
    if (namesCharset(session, command.charset)) return charsetForbidden();
    if (isFollowed(session, call.tag, command.returns)) return tagInUse();
    const { returns: given, program } = command;
    // RFC 9051 6.4.4: without RETURN an IMAP4rev2 client gets RETURN (ALL).
    const returns = given ?? (session.isRev2 ? RETURN_ALL : undefined);
    const wantsModseq = usesModseq(program);
    if (wantsModseq) enableCondstore(session);
    const found = await searchSelected(session, call.tag, program);
    if (found.kind === 'too-long') return clearSaved(session, returns, searchTooLong());
    writeFound(session, call, found, { name: 'SEARCH', returns, wantsModseq });
    if (returns?.options.includes('UPDATE') === true) follow(session, call, { program, found: found.uids });
    return ok('Searched');
  },
};

/** SORT and UID SORT. RFC 5256, RFC 5957, RFC 5267. */
export const sort: ImapCommand<SortCommand> = {
  name: 'SORT',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  capabilities: ['SORT', 'SORT=DISPLAY', 'ESORT', 'CONTEXT=SORT'],
  parse: (d) => parseSort(d.sp()),

  async run(session, command, call) {
    if (command.kind === 'bad-charset') return clearSaved(session, command.returns, badCharset());
    const { returns, program, keys } = command;
    if (isFollowed(session, call.tag, returns)) return tagInUse();
    const wantsModseq = usesModseq(program);
    if (wantsModseq) enableCondstore(session);
    const found = await searchSelected(session, call.tag, program, keys);
    if (found.kind === 'too-long') return clearSaved(session, returns, searchTooLong());
    writeFound(session, call, found, { name: 'SORT', returns, wantsModseq });
    if (returns?.options.includes('UPDATE') === true) follow(session, call, { program, sort: keys, found: found.uids });
    return ok('Sorted');
  },
};

/** THREAD and UID THREAD. RFC 5256. */
export const thread: ImapCommand<ThreadCommand> = {
  name: 'THREAD',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  capabilities: ['THREAD=ORDEREDSUBJECT', 'THREAD=REFERENCES', 'THREAD=REFS'],
  parse: (d) => parseThread(d.sp()),

  async run(session, command, { tag, uid }) {
    if (command.kind === 'bad-charset') return badCharset();
    const { program, algorithm } = command;
    const threads = await threadSelected(session, tag, program, { algorithm, uid });
    if (typeof threads !== 'string') return searchTooLong();
    session.write(`* THREAD${threads === '' ? '' : ` ${threads}`}\r\n`);
    return ok('Threaded');
  },
};

const RETURN_ALL: SearchReturns = { options: ['ALL'] };

function writeFound(
  session: Session,
  { tag, uid }: CommandCall,
  { uids, scores }: FoundMessages,
  how: { name: 'SEARCH' | 'SORT'; returns: SearchReturns | undefined; wantsModseq: boolean },
): void {
  const { name, returns } = how;
  const { shared } = session.view;
  if (returns?.options.includes('SAVE') === true) session.view.saved = savedPart(uids, returns);
  const numbers = numbersOf(session, uids, uid);
  const relevancy =
    returns?.options.includes('RELEVANCY') === true ? Array.from(uids, (each) => scores.get(each) ?? 1) : [];
  const modseq = how.wantsModseq ? foundModseq(uids, returns, (each) => shared.modseq(each)) : undefined;
  session.write(searchResponse({ name, tag, uid, returns, modseq }, { numbers, scores: relevancy }));
}

/** RFC 5182 2.1: a SEARCH with SAVE that fails empties `$`. */
function clearSaved(session: Session, returns: SearchReturns | undefined, response: TaggedResponse): TaggedResponse {
  if (returns?.options.includes('SAVE') === true) session.view.saved = new Uint32Array();
  return response;
}

/** Follows a search: its program is evaluated again after changes. RFC 5267 4.3. */
function follow(session: Session, { tag, uid }: CommandCall, followed: Omit<FollowedSearch, 'search'>): void {
  const search: ContextEvaluation = (program, keys) => searchSelected(session, tag, program, keys);
  session.contexts.add(session, { tag, uid }, { ...followed, search });
}

/** RFC 5267 4.3: the tag of a followed search is not used for another one. */
function isFollowed({ contexts }: Session, tag: string, returns: SearchReturns | undefined): boolean {
  return returns?.options.includes('UPDATE') === true && contexts.has(tag);
}

function tagInUse(): TaggedResponse {
  return bad('Another search with this tag is followed. Use a new tag');
}

/** RFC 6855 3: after ENABLE UTF8=ACCEPT strings are UTF-8, and CHARSET is an error. */
function namesCharset(session: Session, charset: string | undefined): boolean {
  return charset !== undefined && session.enabled.has('UTF8=ACCEPT');
}

function charsetForbidden(): TaggedResponse {
  return bad('CHARSET is not allowed after ENABLE UTF8=ACCEPT. Send UTF-8 without it');
}
