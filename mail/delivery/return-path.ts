import type { KeyObject } from 'node:crypto';
import { looksRewritten } from '../forwarder/srs.ts';
import type { Address } from '../message/address.ts';
import { reportAddress } from '../message/report-address.ts';
import { receives } from '../store/domain.ts';
import type { Store } from '../store/engine/types.ts';

/**
 * The envelope sender that one copy leaves under: an address of its own for its reports, in the same domain, so that SPF
 * and DMARC see what they would have seen. Left as it is where its reports would not come here: a domain that is not
 * proved or whose records are wrong, and the senders of forwards, which lead back in a way of their own.
 */
export async function returnPath(
  store: Store,
  key: KeyObject,
  copy: { id: number; sender: Address | undefined },
): Promise<Address | undefined> {
  const { id, sender } = copy;
  if (sender === undefined || looksRewritten(sender.local)) return sender;
  return (await store.read(receives, { name: sender.domain })) ? reportAddress(sender, id, key) : sender;
}
