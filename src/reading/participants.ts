import { parseAddress, textKey } from '../../mail/message/address.ts';
import { threadEmails } from '../../mail/store/thread.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { addressesOf, type Box, knownMessages } from './summary.ts';

/** More take part in no conversation that somebody answers. */
const MOST = 200;

/** Keys of the addresses from which and to which the messages of a thread are: From, To and Cc. */
export async function participantsIn(store: MailStore, box: Box, thread: number): Promise<string[]> {
  const { threads } = await store.read(threadEmails, { account: box.id, threads: [thread] });
  const known = (await knownMessages(store, box, threads.get(thread) ?? [])) ?? [];
  const named = known.flatMap(({ envelope: { from, to, cc } }) => [from, to, cc].flatMap(addressesOf));
  const keys = named.flatMap(({ address }) => (parseAddress(address) === undefined ? [] : [textKey(address)]));
  return [...new Set(keys)].slice(0, MOST);
}
