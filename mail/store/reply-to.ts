import { textKey } from '../message/address.ts';
import { namedAddresses } from '../message/named-address.ts';
import { readReplyTo } from '../message/stored-envelope.ts';
import type { Authored } from './authors.ts';
import type { Read } from './engine/types.ts';

/** Where a message wants its answers, as compared, leaving out who wrote it. */
export async function replyTo(rx: Read, { email, author }: Pick<Authored, 'email' | 'author'>): Promise<string[]> {
  const row = await rx.get<{ envelope: string }>('SELECT envelope FROM email_meta WHERE email_id = ?', email);
  const wanted = row === undefined ? undefined : readReplyTo(row.envelope);
  return namedAddresses(wanted ?? [])
    .map((one) => textKey(one.email))
    .filter((key) => key !== author);
}
