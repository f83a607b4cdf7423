import { publicMessageId } from '../../core/message-ids.ts';
import { publicId } from '../../core/ids.ts';
import { z } from 'zod';
import { requestRelease, decideRelease } from '../../../mail/agents/quarantine/release.ts';
import { messageText } from '../../reading/message-text.ts';
import { refuseQuarantined, quarantineReason } from '../../reading/quarantine.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, MessageId, namedMessage, wholeMessage } from '../reading/mailbox-arguments.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import type { Mailbox } from '../scope.ts';

export const requestMessageRelease = operation({
  name: 'request_release',
  title: 'Request a quarantined message',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Asks the people of the organization to show a quarantined message to agents. Only a person can release it, on the returned page.',
  hints: { idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    messageId: MessageId,
    reason: Line(1, 300).describe('Shown to the person who decides'),
  }),
  output: z.object({ requested: z.literal(true), releaseUrl: z.string() }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/quarantine' },
  async run(call, { reason, ...which }) {
    const { box, email } = await namedMessage(call, which);
    const known = await wholeMessage(call, box, email);
    const why = quarantineReason(known, await messageText(call, known.row));
    if (why === undefined) refuseNotQuarantined();
    if (why === 'secret_link') refuseQuarantined(why);
    const input = { account: box.id, email, by: call.caller.actor, reason };
    const { kind } = await call.change(requestRelease, input, publicMessageId(email), { mailbox: mailboxId(box) });
    if (kind === 'missing') notFound('message');
    if (kind === 'released') refuseNotQuarantined();
    if (kind === 'too-many') {
      refuse('conflict', 'Limit of open requests reached for this mailbox: wait until people decide about them.', {
        resource: 'release',
      });
    }
    return { requested: true as const, releaseUrl: quarantinePage(call, box) };
  },
});

function refuseNotQuarantined(): never {
  return refuse('conflict', 'This message is not quarantined: read it with get_message.', { resource: 'release' });
}

/** A person's decision, on the quarantine page. */
export const releaseMessage = operation({
  name: 'release_message',
  title: 'Release a quarantined message to agents',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description: 'Shows agents a quarantined message, or with release: false quarantines it again. Only for people.',
  hints: { idempotent: true },
  peopleOnly: true,
  input: z.strictObject({
    ...InMailbox,
    messageId: MessageId,
    release: z.boolean().default(true).describe('false: quarantine again'),
  }),
  output: z.object({ released: z.boolean() }),
  async run(call, { release, ...which }) {
    const { box, email } = await namedMessage(call, which);
    const { row } = await wholeMessage(call, box, email);
    if (row.redactedFrom !== null) refuseQuarantined('secret_link');
    const input = { account: box.id, email, by: call.caller.actor, release };
    const target = publicMessageId(email);
    const done = await call.change(decideRelease, input, target, { mailbox: mailboxId(box), release });
    if (done.kind === 'missing') notFound('message');
    return { released: release };
  },
});

const mailboxId = ({ id }: Mailbox): string => publicId('mailbox', id);

/** URL of the quarantine page. */
function quarantinePage({ tenant, baseUrl }: Pick<Call, 'tenant' | 'baseUrl'>, box: Mailbox): string {
  return `${baseUrl()}/o/${publicId('organization', tenant)}/mailboxes/${mailboxId(box)}/quarantine`;
}
