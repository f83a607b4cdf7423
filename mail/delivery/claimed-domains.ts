import { parseDomain } from '../message/address.ts';
import { decodeWords } from '../message/encoded-word.ts';
import type { Field } from '../message/header.ts';
import { hostedAmong } from '../store/domain.ts';
import type { Store } from '../store/engine/types.ts';

/** More in one From field are not looked up: then all of them count, or what is meant would be hidden behind others. */
const MOST = 50;

/**
 * Domains of this box that a message names as its author's: the box's own name, those it hosts, and what lies below
 * them. Read as the most lenient reader would, for names in quotes and comments are what people see.
 */
export async function claimedDomains(store: Store, hostname: string, fields: readonly Field[]): Promise<string[]> {
  const named = [...new Set(fields.filter(({ name }) => name.trim() === 'from').flatMap(domainsIn))];
  if (named.length === 0 || named.length > MOST) return named;
  const hosted = await store.read(hostedAmong, { names: [...new Set(named.flatMap(withParents))] });
  const ours = new Set([hostname, ...hosted]);
  return named.filter((domain) => withParents(domain).some((one) => ours.has(one)));
}

function domainsIn({ value }: Field): string[] {
  const raw = Buffer.from(value, 'latin1').toString();
  const found = [raw, decodeWords(value)].flatMap((text) => [...text.matchAll(/@\s*([^\s<>()[\]",;:@]+)/g)]);
  return found.flatMap(([, domain = '']) => parseDomain(domain.replace(/\.$/, '')) ?? []);
}

/** The domain itself first, then what it lies below. */
function withParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.map((_, at) => labels.slice(at).join('.'));
}
