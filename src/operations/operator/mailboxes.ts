import { z } from 'zod';
import { addressKey, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { type AccountInfo, listAccounts } from '../../../mail/store/account/account.ts';
import { listDomains } from '../../../mail/store/address/domain.ts';
import { changeMailboxPassword, provisionAccount } from '../../mailboxes/provision.ts';
import { BOX } from '../../notices/compose.ts';
import { servicesOf } from '../../services/attachment-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { auditedStore } from './audited-store.ts';

/**
 * Minimum length 12: a chosen password is easier to guess than a generated one, and the verifier is fast to compute.
 */
const Password = z
  .string()
  .min(12, 'must have at least 12 characters; omit it to generate one')
  .max(200)
  .describe('Default: generated')
  .optional();
const Named = z.strictObject({ address: z.string().min(1).max(320).describe('Mail address'), password: Password });
const Secret = z.object({ id: z.number(), address: z.string(), password: z.string() });

export const addBoxMailbox = operation({
  name: 'add_mailbox',
  title: 'Create a mailbox',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  secret: true,
  description: 'Creates a mailbox on any domain of this server; its password is shown once.',
  hints: {},
  input: Named,
  output: Secret,
  async run(call, { address: text, password }) {
    const address = parseAddress(text) ?? notAnAddress(text);
    const domain = (await call.store.read(listDomains, undefined))
      .filter((one) => one.name === address.domain)
      .toSorted((a, b) => Number(b.verified) - Number(a.verified))[0];
    if (domain === undefined) {
      return refuse('not_found', `No domain ${address.domain} on this server: add it first (mailstead domain add).`);
    }
    if (domain.tenant === BOX) {
      return refuse(
        'conflict',
        `${address.domain} is the name of this server and belongs to no organization, so a mailbox there could not send. Add a domain for mailboxes (mailstead domain add).`,
      );
    }
    const context = { ...call, store: auditedStore(call, formatAddress(address)) };
    const { id: domainId, tenant } = domain;
    const done = await provisionAccount(context, { tenant, domainId, address, ...(password && { password }) });
    switch (done.kind) {
      case 'added':
        return { id: done.account, address: done.address, password: done.password };
      case 'address-taken':
        return refuse('conflict', `${formatAddress(address)} is already taken: choose another address.`);
      case 'no-domain':
        return refuse('not_found', `The domain ${address.domain} was removed: add it again first.`);
      case 'bad-password':
        return refuse('invalid_arguments', 'A password must not contain control characters.');
    }
  },
});

export const boxMailboxPassword = operation({
  name: 'change_mailbox_password',
  title: 'Replace the password of a mailbox',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  secret: true,
  description: 'Replaces the password of any mailbox of this server and ends its sessions; the new one is shown once.',
  hints: { destructive: true },
  input: Named,
  output: Secret,
  async run(call, { address, password }) {
    const { id } = await findMailbox(call, address);
    const done = await changeMailboxPassword({ ...call, store: auditedStore(call, address) }, id, password);
    switch (done.kind) {
      case 'changed':
        await rewriteEnvFiles(call, await call.store.read(servicesOf, { account: id }));
        return { id, address: done.address, password: done.password };
      case 'no-account':
        return noMailbox(address);
      case 'bad-password':
        return refuse('invalid_arguments', 'A password must not contain control characters.');
    }
  },
});

const BoxMailbox = z.object({
  id: z.number(),
  address: z.string(),
  messages: z.number().int(),
  bytes: z.number().int(),
  createdAt: z.number().int().describe('ms UTC'),
});

export const boxMailboxes = operation({
  name: 'list_box_mailboxes',
  title: 'List all mailboxes',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Lists the mailboxes of all organizations. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({ mailboxes: z.array(BoxMailbox) }),
  run: async ({ store }) => ({
    mailboxes: (await store.read(listAccounts, undefined)).map((one) => ({
      id: one.id,
      address: one.address,
      messages: one.usedCount,
      bytes: one.usedBytes,
      createdAt: one.createdAt,
    })),
  }),
});

async function findMailbox({ store }: Call, text: string): Promise<AccountInfo> {
  const address = parseAddress(text) ?? notAnAddress(text);
  const all = await store.read(listAccounts, undefined);
  return all.find((one) => keyOf(one.address) === addressKey(address)) ?? noMailbox(formatAddress(address));
}

function keyOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && addressKey(address);
}

function notAnAddress(text: string): never {
  return refuse('invalid_arguments', `${JSON.stringify(text)} is not a valid mail address.`);
}

function noMailbox(address: string): never {
  return refuse('not_found', `No mailbox ${address} on this server.`);
}
