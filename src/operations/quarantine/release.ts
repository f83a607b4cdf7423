import { z } from 'zod';
import { jmapId } from '../../../mail/jmap/ids.ts';
import { askRelease, decideRelease } from '../../../mail/store/withheld.ts';
import { publicId } from '../../ids.ts';
import { messageText } from '../../reading/message-text.ts';
import { refuseWithheld, whyWithheld } from '../../reading/withheld.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, MessageId, namedMessage, wholeMessage } from '../reading/which.ts';
import { notFound, refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import type { Mailbox } from '../scope.ts';

export const requestRelease = operation({
  name: 'request_release',
  title: 'Ask for a withheld message',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Asks the people of the organization to show a withheld message to programs. Only a person releases it, on the page that is named.',
  hints: { idempotent: true },
  input: z.strictObject({ ...InMailbox, messageId: MessageId, reason: Line(1, 300) }),
  output: z.object({ requested: z.literal(true), releaseUrl: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/quarantine' },
  async run(call, { reason, ...which }) {
    const { box, email } = await namedMessage(call, which);
    const known = await wholeMessage(call, box, email);
    const why = whyWithheld(known, await messageText(call, known.row));
    if (why === undefined) notWithheld();
    if (why === 'secret_link') refuseWithheld(why);
    const input = { account: box.id, email, by: call.caller.actor, reason };
    const { kind } = await call.change(askRelease, input, jmapId('email', email), { mailbox: mailboxId(box) });
    if (kind === 'missing') notFound('message');
    if (kind === 'released') notWithheld();
    if (kind === 'too-many') {
      refuse('conflict', 'So many requests of this mailbox wait for a person already: wait until they are decided.', {
        resource: 'release',
      });
    }
    return { requested: true as const, releaseUrl: withheldPage(call, box) };
  },
});

function notWithheld(): never {
  return refuse('conflict', 'This message is not withheld: get_message shows it.', { resource: 'release' });
}

/** What a person decides, on the page of withheld messages. */
export const releaseMessage = operation({
  name: 'release_message',
  title: 'Show a withheld message to programs',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description: 'Shows programs a message that is withheld, or with release false withholds it again. Only for people.',
  hints: { idempotent: true },
  peopleOnly: true,
  input: z.strictObject({ ...InMailbox, messageId: MessageId, release: z.boolean().default(true) }),
  output: z.object({ released: z.boolean() }),
  async run(call, { release, ...which }) {
    const { box, email } = await namedMessage(call, which);
    const { row } = await wholeMessage(call, box, email);
    if (row.veiledFrom !== null) refuseWithheld('secret_link');
    const input = { account: box.id, email, by: call.caller.actor, release };
    const target = jmapId('email', email);
    const done = await call.change(decideRelease, input, target, { mailbox: mailboxId(box), release });
    if (done.kind === 'missing') notFound('message');
    return { released: release };
  },
});

const mailboxId = ({ id }: Mailbox): string => publicId('mailbox', id);

/** Where people decide. */
function withheldPage({ tenant, baseUrl }: Pick<Call, 'tenant' | 'baseUrl'>, box: Mailbox): string {
  return `${baseUrl()}/o/${publicId('organization', tenant)}/mailboxes/${mailboxId(box)}/withheld`;
}
