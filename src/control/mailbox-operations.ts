import { addressKey, formatAddress, parseAddress } from '../../mail/message/address.ts';
import { listAccounts } from '../../mail/store/account.ts';
import { listDomains } from '../../mail/store/domain.ts';
import { changePassword, provisionAccount } from '../accounts/accounts.ts';
import type { Fields } from './fields.ts';
import { type ControlContext, operation, refuse, type Refusal } from './operation.ts';

/** A password is shown once, to who made it. */
export interface MailboxSecret {
  id: number;
  address: string;
  password: string;
}

/** What a person chooses is guessed sooner than what is generated, and the verifier is a cheap one. */
const MIN_CHOSEN = 12;

const addressAndPassword = (fields: Fields) => ({
  address: fields.text('address'),
  password: fields.optionalText('password'),
});

export const addMailbox = operation({
  name: 'add_mailbox',
  input: addressAndPassword,
  async run(context, { address: text, password }): Promise<MailboxSecret | Refusal> {
    const address = parseAddress(text);
    if (address === undefined) return notAnAddress(text);
    if (tooShort(password)) return shortPassword();
    const domain = (await context.store.read(listDomains, undefined))
      .filter((one) => one.name === address.domain)
      .sort((a, b) => Number(b.verified) - Number(a.verified))[0];
    if (domain === undefined) {
      return refuse('not_found', `There is no domain ${address.domain} here: add it first (mailstead domain add).`);
    }
    const { id: domainId, tenant } = domain;
    const done = await provisionAccount(context, { tenant, domainId, address, ...(password ? { password } : {}) });
    switch (done.kind) {
      case 'added':
        return { id: done.account, address: done.address, password: done.password };
      case 'address-taken':
        return refuse('conflict', `${formatAddress(address)} is taken.`);
      case 'no-domain':
        return refuse('not_found', `The domain ${address.domain} was removed.`);
      case 'bad-password':
        return badPassword();
    }
  },
});

export const mailboxPassword = operation({
  name: 'change_mailbox_password',
  input: addressAndPassword,
  async run(context, { address, password }): Promise<MailboxSecret | Refusal> {
    if (tooShort(password)) return shortPassword();
    const id = await findMailbox(context, address);
    if (typeof id !== 'number') return id;
    const done = await changePassword(context, id, password);
    switch (done.kind) {
      case 'changed':
        return { id, address: done.address, password: done.password };
      case 'no-account':
        return noMailbox(address);
      case 'bad-password':
        return badPassword();
    }
  },
});

export const mailboxes = operation({
  name: 'list_mailboxes',
  input: () => ({}),
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

async function findMailbox({ store }: ControlContext, text: string): Promise<number | Refusal> {
  const address = parseAddress(text);
  if (address === undefined) return notAnAddress(text);
  const all = await store.read(listAccounts, undefined);
  const mine = all.find((one) => keyOf(one.address) === addressKey(address));
  return mine?.id ?? noMailbox(formatAddress(address));
}

function keyOf(text: string): string | undefined {
  const address = parseAddress(text);
  return address && addressKey(address);
}

function tooShort(password: string | undefined): boolean {
  return password !== undefined && password.length < MIN_CHOSEN;
}

const notAnAddress = (text: string) => refuse('invalid', `${JSON.stringify(text)} is not a mail address.`);
const noMailbox = (address: string) => refuse('not_found', `There is no mailbox ${address} here.`);
const shortPassword = () =>
  refuse('invalid', `A password needs at least ${MIN_CHOSEN} characters; leave it out to have one made.`);
const badPassword = () => refuse('invalid', 'A password cannot hold control characters.');
