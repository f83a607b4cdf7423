import { z } from 'zod';
import { hideableCapabilities } from '../../../mail/imap/hideable-capabilities.ts';
import { setHiddenCapabilities } from '../../../mail/store/account/imap-setting.ts';
import { setQuota } from '../../../mail/store/account/account.ts';
import { publicId } from '../../core/ids.ts';
import { nameMailbox } from '../../mailboxes/commands.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { mailboxOf } from '../scope.ts';
import { DisplayName, Mailbox, mailboxNow, MailboxArguments } from './shown.ts';

export const updateEmail = operation({
  name: 'update_email',
  title: 'Update a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description: 'Changes the display name or quota of a mailbox; null removes it. Stored mail stays.',
  hints: { idempotent: true },
  // A smaller quota rejects mail, which nothing brings back.
  rule: async (call, { quotaBytes, ...which }) => {
    if (quotaBytes == null) return undefined;
    const { id } = await mailboxOf(call, which);
    const { quotaBytes: before } = await mailboxNow(call, id);
    return before === null || quotaBytes < before ? [id] : undefined;
  },
  input: z.strictObject({
    ...MailboxArguments,
    displayName: DisplayName.nullable().describe('null removes it').optional(),
    quotaBytes: z
      .number()
      .int()
      .min(1_000_000)
      .max(2 ** 50)
      .nullable()
      .describe('Bytes; null: no limit')
      .optional(),
    hiddenImapCapabilities: z.array(Line(1, 40)).max(100).describe('e.g. ["QUOTA"]; replaces all').optional(),
  }),
  output: z.object({ mailbox: Mailbox }),
  rest: { method: 'PUT', path: '/api/email/mailboxes/:mailboxId' },
  async run(call, { displayName, quotaBytes, hiddenImapCapabilities, ...which }) {
    const hidden = hiddenImapCapabilities && knownCapabilities(hiddenImapCapabilities);
    const { id } = await mailboxOf(call, which);
    const target = publicId('mailbox', id);
    if (displayName !== undefined) await call.change(nameMailbox, { account: id, displayName }, target);
    if (quotaBytes !== undefined) await call.change(setQuota, { account: id, bytes: quotaBytes }, target);
    if (hidden !== undefined) await call.change(setHiddenCapabilities, { account: id, names: hidden }, target);
    return { mailbox: await mailboxNow(call, id) };
  },
});

/** The names in upper case; refuses those that the server never lists, as they are probably misspelled. */
function knownCapabilities(names: readonly string[]): string[] {
  const known = hideableCapabilities();
  const given = names.map((name) => name.toUpperCase());
  const unknown = given.findIndex((name) => !known.includes(name));
  if (unknown === -1) return given;
  return refuse(
    'invalid_arguments',
    `The IMAP server does not list ${given[unknown]}. It lists: ${known.join(', ')}.`,
    {
      issues: [{ path: `hiddenImapCapabilities[${unknown}]`, message: 'is no capability of this server' }],
    },
  );
}
