import { ok } from '../answer.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { chooseMailboxes } from '../list-choice.ts';
import type { Listed } from '../list-choice.ts';
import { parseList } from '../list-options.ts';
import type { ListRequest } from '../list-options.ts';
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
    if (request.asksDelimiter) {
      session.say('* LIST (\\Noselect) "/" ""\r\n');
      return ok('Levels are separated by that');
    }
    for (const listed of await chooseMailboxes(await session.store.mailboxes(), request)) {
      session.say(listResponse(listed, request));
      // RFC 5819 2: the STATUS comes behind its LIST.
      if (request.status.length > 0 && listed.chosen) {
        session.say(statusResponse(listed.mailbox, request.status, session.door.limits.messageBytes));
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
    const pattern = d.sp().reference() + d.sp().listMailbox();
    return {
      patterns: [pattern],
      select: ['SUBSCRIBED', 'RECURSIVEMATCH'],
      subscribed: false,
      status: [],
      asksDelimiter: false,
    };
  },

  async run(session, request) {
    for (const { mailbox: each, chosen } of await chooseMailboxes(await session.store.mailboxes(), request)) {
      // `%` names also the parents of what is subscribed; with `*` the children are shown themselves.
      if (!chosen && !request.patterns.some((pattern) => pattern.endsWith('%'))) continue;
      session.say(`* LSUB (${chosen ? '' : '\\Noselect'}) "/" ${mailbox(each.name)}\r\n`);
    }
    return ok('Listed');
  },
};

function listResponse({ mailbox: each, chosen, childInfo }: Listed, request: ListRequest): string {
  const attributes = [each.hasChildren ? '\\HasChildren' : '\\HasNoChildren'];
  // Always shown, RFC 6154 2 allows it: clients that do not see them make folders of their own.
  const use = specialUse(each.role);
  if (use !== undefined) attributes.push(use);
  const asked = request.subscribed || request.select.includes('SUBSCRIBED');
  if (asked && each.subscribed) attributes.push('\\Subscribed');
  const criteria = request.select.filter((name) => name === 'SUBSCRIBED' || name === 'SPECIAL-USE');
  const fitted = [...new Set(criteria)].map((name) => `"${name}"`).join(' ');
  const extended = childInfo && !chosen ? ` ("CHILDINFO" (${fitted}))` : '';
  return `* LIST (${attributes.join(' ')}) "/" ${mailbox(each.name)}${extended}\r\n`;
}
