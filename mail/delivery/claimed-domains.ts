import { parseDomain } from '../message/address.ts';
import { decodeWords } from '../message/encoded-word.ts';
import type { Field } from '../message/header.ts';
import { hostedDomains } from '../store/address/domain.ts';
import type { Store } from '../store/engine/types.ts';

/** Domains in From that are looked up; with more, all count as ours, so that decoys cannot hide one. */
const MAX_DOMAINS = 50;

/**
 * Finds domains of this box, or subdomains of them, in From. Parsed leniently, since readers see names in quotes and comments
 * too.
 */
export async function findClaimedDomains(store: Store, hostname: string, fields: readonly Field[]): Promise<string[]> {
  const domains = [...new Set(fields.filter(({ name }) => name.trim() === 'from').flatMap(domainsIn))];
  if (domains.length === 0 || domains.length > MAX_DOMAINS) return domains;
  const hosted = await store.read(hostedDomains, { names: [...new Set(domains.flatMap(withParents))] });
  const ours = new Set([hostname, ...hosted]);
  return domains.filter((domain) => withParents(domain).some((one) => ours.has(one)));
}

function domainsIn({ value }: Field): string[] {
  const raw = Buffer.from(value, 'latin1').toString();
  const found = [raw, decodeWords(value)].flatMap((text) => [...text.matchAll(/@\s*([^\s<>()[\]",;:@]+)/g)]);
  return found.flatMap(([, domain = '']) => parseDomain(domain.replace(/\.$/, '')) ?? []);
}

/** Lists the domain and its parent domains. */
function withParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.map((_, at) => labels.slice(at).join('.'));
}
