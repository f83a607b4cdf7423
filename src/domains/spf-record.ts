import { isIPv4, isIPv6 } from 'node:net';

export interface SpfMechanism {
  qualifier: string;
  name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists';
  /** Domain with its macros, or address; '' if none is given. */
  value: string;
  /** Prefix lengths for IPv4 and IPv6. */
  four: number;
  six: number;
  /** Text in the record. */
  text: string;
}

export interface ParsedSpfRecord {
  mechanisms: SpfMechanism[];
  redirect: string | undefined;
}

/** SPF records among TXT records. RFC 7208 4.5. */
export function spfTexts(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/**
 * Parses a record. One invalid term is a permerror for the whole record, wherever it is (RFC 7208 4.6). Returns that term as
 * `bad`.
 */
export function parseSpf(text: string): ParsedSpfRecord | { bad: string } {
  const mechanisms: SpfMechanism[] = [];
  const modifiers = new Map<string, string>();
  for (const term of text.split(/ +/).slice(1)) {
    if (term === '') continue;
    const [, modifier, value = ''] = /^([a-z][\w.-]*)=(.*)$/i.exec(term) ?? [];
    if (modifier === undefined) {
      const mechanism = parseMechanism(term);
      if (mechanism === undefined) return { bad: term };
      mechanisms.push(mechanism);
      continue;
    }
    const name = modifier.toLowerCase();
    // RFC 7208 6: redirect and exp may appear once; unknown modifiers are ignored.
    if (name !== 'redirect' && name !== 'exp') continue;
    if (modifiers.has(name) || value === '') return { bad: term };
    modifiers.set(name, value);
  }
  return { mechanisms, redirect: modifiers.get('redirect') };
}

const NAMED = /^([+?~-]?)(all|include|exists|ptr)(?::(.+))?$/i;
const NUMBERED = /^([+?~-]?)(a|mx|ip4|ip6)(?::([^/]+))?(?:\/(0|[1-9]\d{0,2}))?(?:\/\/(0|[1-9]\d{0,2}))?$/i;

function parseMechanism(text: string): SpfMechanism | undefined {
  const [, qualifier = '', mechanism, value = '', first, second] = NAMED.exec(text) ?? NUMBERED.exec(text) ?? [];
  if (mechanism === undefined) return undefined;
  const name = mechanism.toLowerCase() as SpfMechanism['name'];
  const four = Number(first ?? 32);
  const six = Number((name === 'ip6' ? first : second) ?? 128);
  const read = { qualifier, name, value, four, six, text };
  return isValid(read, second !== undefined) ? read : undefined;
}

function isValid({ name, value, four, six }: SpfMechanism, two: boolean): boolean {
  switch (name) {
    case 'all':
      return value === '';
    case 'include':
    case 'exists':
      return value !== '';
    case 'ip4':
      return isIPv4(value) && four <= 32 && !two;
    case 'ip6':
      return isIPv6(value) && six <= 128 && !two;
    case 'ptr':
      return true;
    case 'a':
    case 'mx':
      return four <= 32 && six <= 128;
  }
}
