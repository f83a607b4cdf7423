import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { enableCondstore } from '../condstore.ts';
import { ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { levelsAboveAll, selectMailboxes } from '../list-selection.ts';
import type { ListedMailbox } from '../list-selection.ts';
import { joinPatterns, parseList } from '../list-options.ts';
import type { ListRequest } from '../list-options.ts';
import { formerMailbox, isSelectable, listAttributes, listResponse } from '../list-response.ts';
import type { Annotation } from '../../store/mailbox/annotation.ts';
import type { ImapMailboxInfo } from '../imap-store.ts';
import { metadataResponse, selectEntries } from '../metadata.ts';
import { hasRight } from '../rights.ts';
import { myRightsResponse } from './acl.ts';
import { roleEntry } from './metadata.ts';
import type { Session } from '../session.ts';
import { statusResponse, withCounts } from '../status-items.ts';
import { mailbox } from '../wire/encoder.ts';

/** LIST with its extensions. RFC 9051 6.3.9, RFC 5258, RFC 5819, RFC 6154, RFC 8440, RFC 9590. */
export const list: ImapCommand<ListRequest> = {
  name: 'LIST',
  states: LOGGED_IN,
  capabilities: ['CHILDREN', 'LIST-EXTENDED', 'LIST-STATUS', 'LIST-METADATA', 'LIST-MYRIGHTS', 'SPECIAL-USE'],
  parse: (d) => parseList(d),

  async run(session, request) {
    if (request.isDelimiterRequest) {
      session.write('* LIST (\\Noselect) "/" ""\r\n');
      return ok('Hierarchy delimiter listed');
    }
    const annotations = await annotationsByMailbox(session, request.metadata);
    if (request.status.includes('HIGHESTMODSEQ')) enableCondstore(session);
    for await (const listed of listedTo(session, request)) {
      session.write(extendedResponse(listed, request, session.utf8));
      if (listed.isSelected && isSelectable(listed.mailbox))
        await writeFacts(session, listed.mailbox, request, annotations.get(listed.mailbox.id) ?? []);
    }
    return ok('Listed');
  },
};

/** Writes what RETURN asked for beside the LIST response of a mailbox, which they follow. RFC 5819 2. */
async function writeFacts(
  session: Session,
  of: ImapMailboxInfo,
  request: ListRequest,
  entries: readonly Annotation[],
): Promise<void> {
  if (request.myRights) session.write(myRightsResponse(of, session.utf8));
  if (!hasRight(of, 'r')) return;
  if (request.status.length > 0) {
    const facts = await withCounts(session.store, of, request.status);
    session.write(statusResponse(facts, request.status, session));
  }
  if (request.metadata.length > 0) session.write(metadataOf(of, entries, request.metadata, session.utf8));
}

/** LSUB. RFC 3501 6.3.9. */
export const lsub: ImapCommand<ListRequest> = {
  name: 'LSUB',
  states: LOGGED_IN,

  parse(d) {
    return {
      patterns: joinPatterns(d.sp().reference(), [d.sp().listMailbox()]),
      select: ['SUBSCRIBED', 'RECURSIVEMATCH'],
      subscribed: false,
      status: [],
      metadata: [],
      myRights: false,
      isDelimiterRequest: false,
    };
  },

  async run(session, request) {
    for await (const { mailbox: each, isSelected: chosen } of listedTo(session, request)) {
      // `%` lists parents of subscribed mailboxes too; with `*` the children are listed themselves.
      if (!chosen && !request.patterns.some((pattern) => pattern.endsWith('%'))) continue;
      session.write(`* LSUB (${chosen ? '' : '\\Noselect'}) "/" ${mailbox(each.name, session.utf8)}\r\n`);
    }
    return ok('Listed');
  },
};

/** The named entries of all mailboxes, by mailbox. */
async function annotationsByMailbox(
  { store }: Session,
  entries: readonly string[],
): Promise<ReadonlyMap<number, Annotation[]>> {
  if (entries.length === 0) return new Map();
  const found = await store.namedAnnotations(entries.map((name) => name.toLowerCase()));
  return Map.groupBy(found, (each) => each.mailbox);
}

function metadataOf(
  of: ImapMailboxInfo,
  stored: readonly Annotation[],
  entries: readonly string[],
  utf8: boolean,
): string {
  const request = { entries, depth: '0', maxSize: Infinity } as const;
  return metadataResponse(of.name, selectEntries([...stored, ...roleEntry(of)], request).values, utf8);
}

/** Selects the mailboxes as fast as the client reads; ends with the client. */
async function* listedTo(session: Session, request: ListRequest): AsyncGenerator<ListedMailbox> {
  const giveWay = async (): Promise<void> => {
    await yieldToEventLoop(session.login?.account);
    await session.drained();
  };
  const all = await session.store.mailboxes();
  const former = request.select.includes('SUBSCRIBED') ? await session.store.formerSubscriptions() : [];
  const parents = former.length === 0 ? undefined : levelsAboveAll(all);
  const deleted = former.map((name) => formerMailbox(name, parents?.has(name) === true));
  yield* selectMailboxes([...all, ...deleted], request, giveWay);
}

function extendedResponse(
  { mailbox: each, isSelected: chosen, childInfo }: ListedMailbox,
  request: ListRequest,
  utf8: boolean,
): string {
  const attributes = listAttributes(each);
  const wantsSubscribed = request.subscribed || request.select.includes('SUBSCRIBED');
  if (wantsSubscribed && each.subscribed) attributes.push('\\Subscribed');
  const criteria = request.select.filter((name) => name === 'SUBSCRIBED' || name === 'SPECIAL-USE');
  const matched = [...new Set(criteria)].map((name) => `"${name}"`).join(' ');
  const extended = childInfo && !chosen ? ` ("CHILDINFO" (${matched}))` : '';
  return `${listResponse(each, utf8, attributes)}${extended}\r\n`;
}
