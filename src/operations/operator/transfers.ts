import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { addressKey, parseAddress } from '../../../mail/message/address.ts';
import { type AccountInfo, listAccounts } from '../../../mail/store/account/account.ts';
import { importJob } from '../../../mail/store/transfer/import-job.ts';
import { addJob, BoxRemote, folderOf, getImport, startPull } from '../transfers/imports.ts';
import { Format, MailExport, shownExport, tooManyExports } from '../transfers/exports.ts';
import { ImportJob, shownImport } from '../transfers/shown.ts';
import { rowId, publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line, Time } from '../../core/schemas.ts';
import { restoreDeleted } from '../retention/deleted-messages.ts';

const Path = Line(1, 4_000).refine(isAbsolute, 'must be an absolute path').describe('Absolute path on this server');
const Folder = Line(1, 1000).describe('Folder to import below').optional();
const Address = Line(1, 320).describe('Mail address');

export const importFiles = operation({
  name: 'import_files',
  title: 'Import mail from files',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Imports an mbox file, a Maildir, an EML tree or a zip of these that lies on this server.',
  hints: {},
  input: z.strictObject({
    address: Address,
    path: Path,
    folder: Line(1, 1000).describe('Folder to import below').optional(),
  }),
  output: z.object({ import: ImportJob }),
  async run(call, { address, path, folder }) {
    const inside = await ofMailbox(call, address);
    const spec = { kind: 'file', path, name: null, folder: folderOf(folder) } as const;
    return { import: shownImport(await addJob(inside.call, inside.mailbox, spec, null, 'running')) };
  },
});

export const importImap = operation({
  name: 'import_imap',
  title: 'Pull mail from another server',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Pulls a mailbox of another server into any mailbox of this one.',
  hints: { openWorld: true },
  input: z.strictObject({ address: Address, imap: BoxRemote.describe('Account of the other server'), folder: Folder }),
  output: z.object({ import: ImportJob }),
  async run(call, { address, imap, folder }) {
    const inside = await ofMailbox(call, address);
    return { import: shownImport(await startPull(inside.call, inside.mailbox, imap, folderOf(folder))) };
  },
});

export const getBoxImport = operation({
  name: 'get_box_import',
  title: 'Get an import of any organization',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Returns the progress and the report of an import.',
  hints: { readOnly: true, idempotent: true },
  input: getImport.input.extend({ address: Address }),
  output: getImport.output,
  async run(call, { importId, address }) {
    const inside = await ofMailbox(call, address);
    const row = await call.store.read(importJob, { tenant: inside.call.tenant, id: rowId('import', importId) ?? 0 });
    return row === undefined ? notFound('import') : getImport.run(inside.call, { importId });
  },
});

export const exportBoxMailbox = operation({
  name: 'export_box_mailbox',
  title: 'Export a mailbox to a path',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Exports any mailbox into a new directory, or into a new file that ends with .zip.',
  hints: {},
  input: z.strictObject({
    address: Address,
    path: Path,
    format: Format,
    createDirectory: z.boolean().default(false).describe('Creates the directory of the path'),
  }),
  output: z.object({ export: MailExport }),
  async run(call, { address, path, format, createDirectory }) {
    const { mailbox, call: inside } = await ofMailbox(call, address);
    await inside.note(publicId('mailbox', mailbox.id), { address, format, path });
    const request = {
      tenant: inside.tenant,
      account: mailbox.id,
      address: mailbox.address,
      format,
      path,
      createDirectory,
    };
    const status = await call.transfers.startExport(request);
    return status === undefined ? tooManyExports() : { export: shownExport(status) };
  },
});

export const getBoxExport = operation({
  name: 'get_box_export',
  title: 'Get an export of any organization',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Returns the progress of an export.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    exportId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .describe('Id of the export'),
  }),
  output: z.object({ export: MailExport }),
  run: async (call, { exportId }) => {
    const status = call.transfers.exportStatus(exportId);
    return { export: status === undefined ? notFound('export') : shownExport(status) };
  },
});

export const undeleteBoxMail = operation({
  name: 'undelete_box_mail',
  title: 'Restore deleted messages of any mailbox',
  toolset: 'mail',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Restores messages deleted since a time, to their folders with flags and threads; at most 100 a call.',
  hints: { idempotent: true },
  input: z.strictObject({
    address: Address,
    since: Time('Deleted since'),
    drafts: z.boolean().default(false).describe('Also versions of drafts that a later one replaced'),
  }),
  output: restoreDeleted.output,
  async run(call, { address, since, drafts }) {
    const { mailbox, call: inside } = await ofMailbox(call, address);
    return restoreDeleted.run(inside, { mailboxId: publicId('mailbox', mailbox.id), since, drafts });
  },
});

/** Finds a mailbox of any organization, and acts in that organization. */
export async function ofMailbox(
  call: Call,
  text: string,
): Promise<{ call: Call; mailbox: AccountInfo & { project: number; displayName: string | null } }> {
  const address =
    parseAddress(text) ?? refuse('invalid_arguments', `${JSON.stringify(text)} is not a valid mail address.`);
  const all = await call.store.read(listAccounts, undefined);
  const account = all.find((one) => keyOf(one.address) === addressKey(address));
  if (account === undefined)
    return refuse('not_found', `No mailbox ${text} on this server. List them with mailstead mailbox list.`);
  return {
    call: { ...call, tenant: account.tenant, caller: { ...call.caller, organization: account.tenant } },
    mailbox: { ...account, project: 0, displayName: null },
  };
}

function keyOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && addressKey(address);
}
