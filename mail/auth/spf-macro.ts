/** Values of the macros of RFC 7208 7.2. */
export interface MacroFacts {
  /** Sender address; the local part is `postmaster` if missing. */
  sender: string;
  /** Domain under evaluation. */
  domain: string;
  /** IPv4 with dots, or the 32 nibbles of IPv6 with dots. */
  dottedIp: string;
  version: 'in-addr' | 'ip6';
  helo: string;
  /** Forward-confirmed reverse DNS name, else `unknown`. Resolved lazily. */
  validated(): Promise<string>;
}

const MACRO = /%(?:\{([slodiphvcrt])([0-9]{0,3})(r?)([.\-+,/_=]*)\}|([%_-]))/gi;
const LITERALS: Record<string, string> = { '%': '%', _: ' ', '-': '%20' };

/** Checks the macro-string syntax; `explaining` allows the letters c, r and t of explanations. RFC 7208 7.1. */
export function isMacroString(text: string, explaining: boolean): boolean {
  if (/[^\x21-\x7e]/.test(text)) return false;
  const macros = [...text.matchAll(MACRO)];
  // Every "%" must begin a macro; "%%" has two.
  const signs = macros.reduce((sum, [whole]) => sum + (whole === '%%' ? 2 : 1), 0);
  if (text.split('%').length - 1 !== signs) return false;
  return macros.every(
    ([, letter, digits]) =>
      letter === undefined || ((digits === '' || Number(digits) > 0) && (explaining || !/[crt]/i.test(letter))),
  );
}

/** Expands a domain-spec, without a trailing dot; a result over 253 characters loses labels on the left. */
export async function expandMacros(text: string, facts: MacroFacts): Promise<string> {
  let out = '';
  let at = 0;
  for (const match of text.matchAll(MACRO)) {
    const [whole, letter, digits = '', reversed = '', delimiters = '', literal] = match;
    out += text.slice(at, match.index);
    out +=
      letter === undefined
        ? (LITERALS[literal ?? ''] ?? '')
        : transform(await valueOf(letter, facts), { letter, digits, reversed, delimiters });
    at = match.index + whole.length;
  }
  out += text.slice(at);
  return shortened(out.endsWith('.') ? out.slice(0, -1) : out);
}

async function valueOf(letter: string, facts: MacroFacts): Promise<string> {
  const { sender, domain, dottedIp, version, helo } = facts;
  const at = sender.lastIndexOf('@');
  switch (letter.toLowerCase()) {
    case 's':
      return sender;
    case 'l':
      return sender.slice(0, at);
    case 'o':
      return sender.slice(at + 1);
    case 'd':
      return domain;
    case 'i':
      return dottedIp;
    case 'p':
      return facts.validated();
    case 'v':
      return version;
    case 'h':
      return helo;
    default:
      return '';
  }
}

interface Transformers {
  letter: string;
  digits: string;
  reversed: string;
  delimiters: string;
}

/** Applies transformers: split, reverse, keep the last n, join with dots; an upper-case letter URL-escapes. RFC 7208 7.3. */
function transform(value: string, { letter, digits, reversed, delimiters }: Transformers): string {
  const delimiter = delimiters === '' ? '.' : delimiters;
  let parts: string[] = [''];
  for (const char of value) {
    if (delimiter.includes(char)) parts.push('');
    else parts[parts.length - 1] += char;
  }
  if (reversed !== '') parts = parts.reverse();
  if (digits !== '') parts = parts.slice(-Number(digits));
  const joined = parts.join('.');
  return letter === letter.toLowerCase() ? joined : escaped(joined);
}

function escaped(text: string): string {
  // encodeURIComponent leaves !'()* and throws on lone surrogates.
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function shortened(name: string): string {
  let start = 0;
  while (name.length - start > 253) {
    const dot = name.indexOf('.', start);
    if (dot < 0) return name;
    start = dot + 1;
  }
  return name.slice(start);
}
