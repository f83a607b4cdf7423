import { type Finding, sanitizeWord } from '../finding.ts';
import { isFreeMailProvider } from '../free-mail.ts';
import { domainOf, hasSameOwner } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { readAddressField } from './address-field.ts';

/** Finds a Reply-To at a free mail provider that differs from the author. Other domains are common for lists and shops. */
export function checkReplyTo({ author, fields }: Sample): readonly Finding[] {
  if (author === '') return [];
  const replyAddress = readAddressField(fields, 'reply-to').find(
    ({ address }) => address !== author && isFreeMailProvider(domainOf(address)),
  )?.address;
  if (replyAddress === undefined) return [];
  const domain = domainOf(author);
  const same = hasSameOwner(domain, domainOf(replyAddress));
  const list = fields.some(({ name }) => name === 'list-id');
  if (list) return [];
  const why = same
    ? `It is from one address at ${sanitizeWord(domain)}, but replies go to another one`
    : `It is from ${sanitizeWord(domain)} , but replies go to an address at ${sanitizeWord(domainOf(replyAddress))}`;
  return [{ rule: 'reply-elsewhere', score: same ? 1 : 1.5, why }];
}
