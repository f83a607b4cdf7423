import { type Finding, plainWord } from '../finding.ts';
import { isFreeMail } from '../free-mail.ts';
import { domainOf, sameOwner } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { namedIn } from './authors.ts';

/** Answers that go to an address that anybody can have, and not to the author. Lists and shops send them elsewhere too. */
export function replyTo({ author, fields }: Sample): readonly Finding[] {
  const away = namedIn(fields, 'reply-to').find(
    ({ address }) => address !== author && isFreeMail(domainOf(address)),
  )?.address;
  if (author === '' || away === undefined) return [];
  const domain = domainOf(author);
  const same = sameOwner(domain, domainOf(away));
  const list = fields.some(({ name }) => name === 'list-id');
  if (list) return [];
  const why = same
    ? `It is from one address at ${plainWord(domain)} and answers go to another one`
    : `It is from ${plainWord(domain)} and answers go to an address at ${plainWord(domainOf(away))}`;
  return [{ rule: 'reply-elsewhere', score: same ? 1 : 1.5, why }];
}
