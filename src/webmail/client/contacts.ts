import type { MailAddress } from './jmap-types.ts';
import { methods } from './jmap.ts';
import { folderByRole, isOwnAddress } from './mail-state.ts';

const MAX_SUGGESTIONS = 6;

/** Suggests addresses of past mail whose name or address has `text`, those used last first. */
export async function suggestAddresses(text: string): Promise<MailAddress[]> {
  const words = text.trim();
  if (words.length < 2) return [];
  // Addresses of junk look like those that are known.
  const inMailboxOtherThan = ['junk', 'trash'].flatMap((role) => folderByRole(role)?.id ?? []);
  const named = { operator: 'OR', conditions: [{ from: words }, { to: words }] };
  const filter = { operator: 'AND', conditions: [named, { inMailboxOtherThan }] };
  const [, emails] = await methods(
    ['Email/query', { filter, sort: [{ property: 'receivedAt', isAscending: false }], limit: 30 }],
    ['Email/get', { '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['from', 'to', 'cc'] }],
  );
  const found = new Map<string, MailAddress>();
  for (const one of (emails?.['list'] ?? []) as Record<'from' | 'to' | 'cc', MailAddress[] | null>[]) {
    for (const address of [...(one.from ?? []), ...(one.to ?? []), ...(one.cc ?? [])]) {
      const key = address.email.toLowerCase();
      if (!found.has(key) && matches(address, words) && !isOwnAddress(key)) found.set(key, address);
    }
  }
  return [...found.values()].slice(0, MAX_SUGGESTIONS);
}

function matches({ name, email }: MailAddress, words: string): boolean {
  return `${name ?? ''} ${email}`.toLowerCase().includes(words.toLowerCase());
}
