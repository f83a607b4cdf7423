import { enableCondstore } from '../condstore.ts';
import { writeVanished } from '../qresync.ts';
import { bad, no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { FetchRequest } from '../fetch/items.ts';
import { parseFetchModifiers } from '../fetch/modifiers.ts';
import type { FetchModifiers } from '../fetch/modifiers.ts';
import { hasItem, parseFetch, withItems, withoutUid } from '../fetch/parse.ts';
import { type ContentProblems, fetchPages, writePage } from '../fetch/write.ts';
import { partOfRanges } from '../search/returns.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

interface FetchArguments {
  set: SequenceSet;
  request: FetchRequest;
  modifiers: FetchModifiers;
}

/** FETCH and UID FETCH. RFC 9051 6.4.5; their modifiers: RFC 7162 3.1.4, RFC 9394 3.3. */
export const fetch: ImapCommand<FetchArguments> = {
  name: 'FETCH',
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',
  capabilities: ['CONDSTORE', 'OBJECTID', 'PREVIEW', 'QRESYNC', 'SAVEDATE'],
  parse: (d, uid) => ({
    set: d.sp().sequenceSet(),
    request: parseFetch(d.sp(), uid),
    modifiers: parseFetchModifiers(d),
  }),

  async run(session, { set, request: given, modifiers }, { uid }) {
    const { changedSince, vanished, partial } = modifiers;
    if (partial !== undefined && !uid) return bad('PARTIAL needs UID FETCH');
    if (vanished && !(uid && session.enabled.has('QRESYNC'))) return bad('VANISHED needs UID FETCH and ENABLE QRESYNC');
    const items = session.enabled.has('UIDONLY') ? withoutUid(given) : given;
    const request = changedSince === undefined ? items : withItems(items, 'modseq');
    if (hasItem(request, 'modseq')) enableCondstore(session);
    const inSet = session.view.indexes(set, uid);
    if (vanished) await writeVanished(session, changedSince ?? 0, { known: set });
    const matching = changedSince === undefined ? inSet : session.view.changedWithin(inSet, changedSince);
    const ranges = partial === undefined ? matching : partOfRanges(matching, partial);
    let missing = 0;
    const problems: ContentProblems = { damaged: new Set(), isUnknownEncoding: false };
    for (const page of fetchPages(ranges, request)) {
      missing += await writePage(session, page, request, problems);
    }
    if (problems.damaged.size > 0) return damagedResponse(problems.damaged);
    if (problems.isUnknownEncoding) return no('UNKNOWN-CTE', 'A part has an unknown transfer encoding: use BODY');
    return missing > 0 ? missingResponse(uid) : ok('Fetched');
  },
};

/** The response when stored messages are damaged: the others were sent. RFC 9051 7.1. */
function damagedResponse(uids: ReadonlySet<number>): TaggedResponse {
  const [first] = uids;
  const which =
    uids.size === 1 ? `The message with UID ${first}` : `${uids.size} messages, the first with UID ${first},`;
  return no('CORRUPTION', `${which} cannot be read completely: damaged on the server. Ask its operator`);
}

/** The response when messages were expunged meanwhile. RFC 2180 4.1.2. A missing UID is no error, RFC 9051 6.4.9. */
function missingResponse(uid: boolean): TaggedResponse {
  return uid ? ok('Fetched') : no('EXPUNGEISSUED', 'Some of the messages were expunged');
}
