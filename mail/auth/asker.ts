import type { Lookup, Resolver } from '../dns/lookup.ts';

/** Questions that one message may cause; SPF alone has its own, lower limit (RFC 7208 4.6.4). */
const MOST_QUESTIONS = 100;

/** Asks the DNS for the library that verifies, in the words of Node's resolver, within a limit. */
export class Asker {
  readonly #resolver: Resolver;
  #left = MOST_QUESTIONS;
  /** Something was asked that the DNS could not answer. */
  troubled = false;

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  /** Asks no more from now on. */
  close(): void {
    this.#left = 0;
  }

  /** Rejects with the code of what went wrong, as `dns.resolve` does. */
  readonly ask = async (name: string, type: string): Promise<unknown[]> => {
    if (this.#left-- <= 0) return this.#trouble('too many questions');
    const found = await this.#look(name.replace(/\.$/, ''), type);
    switch (found.kind) {
      case 'found':
        return [...found.records];
      case 'none':
        throw Object.assign(new Error(`${type} of ${name}: nothing`), { code: found.nx ? 'ENOTFOUND' : 'ENODATA' });
      case 'trouble':
        return this.#trouble(found.why);
    }
  };

  #trouble(why: string): never {
    this.troubled = true;
    throw Object.assign(new Error(why), { code: 'ESERVFAIL' });
  }

  async #look(name: string, type: string): Promise<Lookup<unknown>> {
    switch (type) {
      case 'TXT':
        return mapped(await this.#resolver.txt(name), (text) => [text]);
      case 'MX':
        return mapped(await this.#resolver.mx(name), ({ preference: priority, exchange }) => ({ priority, exchange }));
      case 'A':
        return this.#resolver.a(name);
      case 'AAAA':
        return this.#resolver.aaaa(name);
      case 'CNAME':
        return this.#resolver.cname(name);
      case 'PTR':
        return this.#resolver.ptr(addressOf(name));
      default:
        return { kind: 'none', nx: false };
    }
  }
}

function mapped<T, U>(found: Lookup<T>, to: (record: T) => U): Lookup<U> {
  return found.kind === 'found' ? { kind: 'found', records: found.records.map(to) } : found;
}

/** The address that a name of the reverse tree stands for. RFC 1035 3.5, RFC 3596 2.5. */
function addressOf(name: string): string {
  const labels = name.split('.').slice(0, -2).toReversed();
  if (name.endsWith('.in-addr.arpa')) return labels.join('.');
  return (
    labels
      .join('')
      .match(/.{1,4}/g)
      ?.join(':') ?? ''
  );
}
