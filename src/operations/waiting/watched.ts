import { z } from 'zod';
import { type Call, operation } from '../operation.ts';
import { Refused } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { allowedAccounts, mailboxOf } from '../scope.ts';

const OUTBOX_URI = 'mail://outbox';
const MAILBOX_URI = /^mail:\/\/mailbox\/(mbx_[1-9]\d{0,14})$/;

/** Which of the resources that a client names it may be told the changes of. A part of subscriptions/listen, and no tool. */
export const watchResources = operation({
  name: 'watch_resources',
  title: 'Be told of changes',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  description: 'Answers which resources a subscription may be told the changes of. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ uris: z.array(Line(1, 500)).max(100) }),
  output: z.object({
    mailboxes: z.array(z.object({ uri: z.string(), account: z.number() })),
    outbox: z.object({ uri: z.string(), tenant: z.number(), accounts: z.array(z.number()).nullable() }).nullable(),
  }),
  async run(call, { uris }) {
    const wanted = [...new Set(uris)];
    const mailboxes = await Promise.all(wanted.map((uri) => mailboxNamed(call, uri)));
    const found = mailboxes.filter((one) => one !== undefined);
    if (!wanted.includes(OUTBOX_URI)) return { mailboxes: found, outbox: null };
    return {
      mailboxes: found,
      outbox: { uri: OUTBOX_URI, tenant: call.tenant, accounts: await allowedAccounts(call) },
    };
  },
});

/** Undefined alike for what there is not and for what is another's. */
async function mailboxNamed(call: Call, uri: string): Promise<{ uri: string; account: number } | undefined> {
  const mailboxId = MAILBOX_URI.exec(uri)?.[1];
  if (mailboxId === undefined) return undefined;
  try {
    return { uri, account: (await mailboxOf(call, { mailboxId })).id };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
