import { z } from 'zod';
import type { ExportStatus } from '../../core/mail-transfers.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { isoOf } from '../../core/schemas.ts';
import { signTransferTicket, TRANSFER_LINK_MS } from '../../transfers/transfer-link.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { allowedAccounts, mailboxOf } from '../scope.ts';

export const MailExport = z.looseObject({ exportId: z.string(), state: z.string() });

export function shownExport({ id, account, state, messages, bytes, damaged, problem }: ExportStatus) {
  return {
    exportId: id,
    mailboxId: publicId('mailbox', account),
    state,
    messages,
    bytes,
    damaged: [...damaged],
    problem,
  };
}

export const Format = z.enum(['eml', 'mbox', 'maildir']).default('eml').describe('Format of the messages');

export const exportMailbox = operation({
  name: 'export_mailbox',
  title: 'Export a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Exports all mail of a mailbox as a zip with a manifest; the URL is valid for a day and answers 503 until the export is done.',
  hints: {},
  // It includes mail that is hidden from agents.
  peopleOnly: true,
  input: z.strictObject({ ...MailboxArguments, format: Format }),
  output: z.object({ export: MailExport, url: z.string(), expiresAt: z.string() }),
  rest: { method: 'POST', path: '/api/email/exports' },
  async run(call, { format, ...which }) {
    const { id: account, address } = await mailboxOf(call, which);
    await call.note(publicId('mailbox', account), { address, format });
    const status = await call.transfers.startExport({ tenant: call.tenant, account, address, format, path: undefined });
    if (status === undefined) return tooManyExports();
    const expires = call.clock() + TRANSFER_LINK_MS;
    const ticket = signTransferTicket(call.secrets, {
      kind: 'export',
      id: status.id,
      organization: call.tenant,
      credential: call.caller.actor,
      expires,
    });
    const url = `${call.baseUrl()}/api/email/transfers?ticket=${ticket}`;
    return { export: shownExport(status), url, expiresAt: isoOf(expires) };
  },
});

export function tooManyExports(): never {
  return refuse('rate_limited', 'Four exports run now: try again when one has ended.', { retryAfterSeconds: 60 });
}

export const getExport = operation({
  name: 'get_export',
  title: 'Get an export',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  description: 'Returns the progress of an export. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    exportId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .describe('exportId of export_mailbox'),
  }),
  output: z.object({ export: MailExport }),
  rest: { method: 'GET', path: '/api/email/exports/:exportId' },
  run: async (call, { exportId }) => ({ export: shownExport(await ownExport(call, exportId)) }),
});

async function ownExport(call: Call, id: string): Promise<ExportStatus> {
  const status = call.transfers.exportStatus(id);
  const allowed = await allowedAccounts(call);
  if (status === undefined || status.tenant !== call.tenant || allowed?.includes(status.account) === false) {
    return notFound('export');
  }
  return status;
}
