import { z } from 'zod';
import { type Call, operation } from '../../core/operation.ts';
import { RefusedError } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { allowedAccounts, mailboxOf } from '../scope.ts';

const OUTBOX_URI = 'mail://outbox';
const MAILBOX_URI = /^mail:\/\/mailbox\/(mbx_[1-9]\d{0,14})$/;

/** Selects the resources of a subscription that the client may watch. A part of subscriptions/listen, not a tool. */
export const watchResources = operation({
  name: 'watch_resources',
  title: 'Subscribe to changes',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  description: 'Returns the resources that a subscription may watch. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ uris: z.array(Line(1, 500)).max(100).describe('Resource URIs') }),
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

/** Undefined both for a missing resource and for another organization's. */
async function mailboxNamed(call: Call, uri: string): Promise<{ uri: string; account: number } | undefined> {
  const mailboxId = MAILBOX_URI.exec(uri)?.[1];
  if (mailboxId === undefined) return undefined;
  try {
    return { uri, account: (await mailboxOf(call, { mailboxId })).id };
  } catch (error) {
    if (error instanceof RefusedError) return undefined;
    throw error;
  }
}
