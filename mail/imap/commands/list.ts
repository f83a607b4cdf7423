import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { selectMailboxes } from '../list-selection.ts';
import type { ListedMailbox } from '../list-selection.ts';
import { joinPatterns, parseList } from '../list-options.ts';
import type { ListRequest } from '../list-options.ts';
import type { Session } from '../session.ts';
import { specialUse } from '../special-use.ts';
import { statusResponse } from '../status-items.ts';
import { mailbox } from '../wire/encoder.ts';

/** LIST with its extensions. RFC 9051 6.3.9, RFC 5258, RFC 5819, RFC 6154. */
export const list: ImapCommand<ListRequest> = {
  name: 'LIST',
  states: LOGGED_IN,
  capabilities: ['CHILDREN', 'LIST-EXTENDED', 'LIST-STATUS', 'SPECIAL-USE'],
  parse: (d) => parseList(d),

  async run(session, request) {
    if (request.isDelimiterRequest) {
      session.write('* LIST (\\Noselect) "/" ""\r\n');
      return ok('Hierarchy delimiter listed');
    }
    for await (const listed of listedTo(session, request)) {
      session.write(listResponse(listed, request));
      // RFC 5819 2: STATUS follows its LIST.
      if (request.status.length > 0 && listed.isSelected) {
        session.write(statusResponse(listed.mailbox, request.status, session.context.limits.messageBytes));
      }
    }
    return ok('Listed');
  },
};

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
      isDelimiterRequest: false,
    };
  },

  async run(session, request) {
    for await (const { mailbox: each, isSelected: chosen } of listedTo(session, request)) {
      // `%` lists parents of subscribed mailboxes too; with `*` the children are listed themselves.
      if (!chosen && !request.patterns.some((pattern) => pattern.endsWith('%'))) continue;
      session.write(`* LSUB (${chosen ? '' : '\\Noselect'}) "/" ${mailbox(each.name)}\r\n`);
    }
    return ok('Listed');
  },
};

/** Selects the mailboxes as fast as the client reads; ends with the client. */
async function* listedTo(session: Session, request: ListRequest): AsyncGenerator<ListedMailbox> {
  const giveWay = async (): Promise<void> => {
    await yieldToEventLoop(session.login?.account);
    await session.drained();
  };
  yield* selectMailboxes(await session.store.mailboxes(), request, giveWay);
}

function listResponse({ mailbox: each, isSelected: chosen, childInfo }: ListedMailbox, request: ListRequest): string {
  const attributes = [each.hasChildren ? '\\HasChildren' : '\\HasNoChildren'];
  // Always sent, which RFC 6154 2 allows: otherwise clients create their own special folders.
  const use = specialUse(each.role);
  if (use !== undefined) attributes.push(use);
  const wantsSubscribed = request.subscribed || request.select.includes('SUBSCRIBED');
  if (wantsSubscribed && each.subscribed) attributes.push('\\Subscribed');
  const criteria = request.select.filter((name) => name === 'SUBSCRIBED' || name === 'SPECIAL-USE');
  const matched = [...new Set(criteria)].map((name) => `"${name}"`).join(' ');
  const extended = childInfo && !chosen ? ` ("CHILDINFO" (${matched}))` : '';
  return `* LIST (${attributes.join(' ')}) "/" ${mailbox(each.name)}${extended}\r\n`;
}
