import { parseRecipients } from './recipients.ts';

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/**
 * Recipients outside of the sender's domains, of a message that also goes to somebody inside: that is how internal mail leaves by
 * mistake. None if all are outside. Linear in the texts.
 */
export function outsideAmongInside(fields: readonly string[], own: readonly string[]): string[] {
  const domains = new Set(own.map(domainOf));
  const all = fields.flatMap((text) => parseRecipients(text).addresses).map(({ email }) => email);
  const outside = all.filter((email) => !domains.has(domainOf(email)));
  return outside.length === all.length ? [] : [...new Set(outside)];
}
