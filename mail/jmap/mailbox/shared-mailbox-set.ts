import { subscribeShared } from '../../store/mailbox/acl.ts';
import { sharedAccount, type SharedAccount, sharedMailboxState } from '../../store/mailbox/shared-account.ts';
import { bool } from '../core/arguments.ts';
import { jmapRow } from '../core/ids.ts';
import type { JmapContext } from '../core/method.ts';
import { readPatched } from '../standard/set-properties.ts';
import { done, type ObjectSetter, refused, type SetOutcome } from '../standard/standard-set.ts';
import { findSharedMailboxes } from './shared-mailboxes.ts';

const OWNER_ONLY = 'Only the owner creates, changes and destroys mailboxes here. You can set "isSubscribed".';
const forbidden = (): Promise<SetOutcome<never>> => Promise.resolve(refused('forbidden', OWNER_ONLY));

/** Mailbox/set in a shared account: each login subscribes for itself, all else stays with the owner. */
export function sharedMailboxSetter(context: JmapContext, { login, owner }: SharedAccount): ObjectSetter {
  const { store } = context;
  return {
    async state() {
      const now = await store.read(sharedAccount, { login, owner });
      return now === undefined ? '' : sharedMailboxState(now);
    },
    create: forbidden,
    destroy: forbidden,
    async update(id, patch) {
      const now = await store.read(sharedAccount, { login, owner });
      const was = now && (await findSharedMailboxes(context, now)).found.find((one) => one.id === id);
      if (was === undefined) return refused('notFound', `No mailbox ${id}.`);
      const wanted = readPatched({ isSubscribed: bool }, was, patch);
      if (wanted.kind === 'refused') return wanted.error.type === 'invalidProperties' ? forbidden() : wanted;
      const mailbox = jmapRow('mailbox', owner, id) ?? 0;
      const input = { account: login.account, mailbox, on: wanted.value.isSubscribed };
      return (await store.write(subscribeShared, input)) === 'done'
        ? done(null)
        : refused('notFound', `No mailbox ${id}.`);
    },
  };
}
