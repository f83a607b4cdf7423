import { textKey } from '../../message/address.ts';
import { namedAddresses } from '../../message/named-address.ts';
import { readReplyTo } from '../../message/stored-envelope.ts';
import type { MessageAuthorship } from './authors.ts';
import type { Read } from '../engine/types.ts';

/** Lookup keys of Reply-To, without the author. */
export async function replyTo(
  rx: Read,
  { email, author }: Pick<MessageAuthorship, 'email' | 'author'>,
): Promise<string[]> {
  const row = await rx.get<{ envelope: string }>('SELECT envelope FROM email_meta WHERE email_id = ?', email);
  const wanted = row === undefined ? undefined : readReplyTo(row.envelope);
  return namedAddresses(wanted ?? [])
    .map((one) => textKey(one.email))
    .filter((key) => key !== author);
}
