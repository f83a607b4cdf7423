import type { FilterResult } from '../filter/mail-filter.ts';
import { formatAddress } from '../message/address.ts';
import type { InboundFilter, ReceiverContext } from './context.ts';
import { isLocal, type ReceivedMessage } from './received-message.ts';

/** Has a message checked for its recipients and further accounts. Returns undefined when the filter is unavailable. */
export async function requestVerdict(
  { store, log, clock }: ReceiverContext,
  { filter, checks }: InboundFilter,
  { envelope, index, blob: { data, file } }: ReceivedMessage,
  further: readonly number[],
): Promise<FilterResult | undefined> {
  const { id, sender, peer, recipients } = envelope;
  const { headerLength, parts, size } = index;
  const accounts = recipients.filter(isLocal).flatMap(({ route }) => route.accounts);
  try {
    return await filter.filter({
      trace: id,
      octets: file === null ? (data ?? new Uint8Array()) : store.files.path(file.file),
      size,
      headerLength,
      parts,
      peer: { ip: peer.ip, helo: peer.helo },
      sender: sender === undefined ? '' : formatAddress(sender),
      recipients: recipients.map(({ address }) => formatAddress(address)),
      accounts: [...new Set([...accounts, ...further])],
      checks,
      now: clock(),
    });
  } catch (error) {
    log.error({ err: error, message: id }, 'failed to check message');
    return undefined;
  }
}
