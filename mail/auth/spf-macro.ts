/** What the macros of RFC 7208 7.2 stand for. */
export interface MacroFacts {
  /** The whole sender; its local part is `postmaster` where there was none. */
  sender: string;
  /** The domain that is being evaluated. */
  domain: string;
  /** IPv4 with dots, or the 32 nibbles of IPv6 with dots. */
  dottedIp: string;
  version: 'in-addr' | 'ip6';
  helo: string;
  /** The name that the address has and that leads back to it, `unknown` without. Asked only where it is needed. */
  validated(): Promise<string>;
}

const MACRO = /%(?:\{([slodiphvcrt])([0-9]{0,3})(r?)([.\-+,/_=]*)\}|([%_-]))/gi;
const LITERALS: Record<string, string> = { '%': '%', _: ' ', '-': '%20' };

/** Whether a text is a macro-string; `explaining` allows the letters that only an explanation may have. RFC 7208 7.1. */
export function isMacroString(text: string, explaining: boolean): boolean {
  if (/[^\x21-\x7e]/.test(text)) return false;
  const macros = [...text.matchAll(MACRO)];
  // Each "%" is the beginning of one: "%%" has two.
  const signs = macros.reduce((sum, [whole]) => sum + (whole === '%%' ? 2 : 1), 0);
  if (text.split('%').length - 1 !== signs) return false;
  return macros.every(
    ([, letter, digits]) =>
      letter === undefined || ((digits === '' || Number(digits) > 0) && (explaining || !/[crt]/i.test(letter))),
  );
}

/** The name that a domain-spec comes to, without its last dot; what is longer than a name loses labels on the left. */
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

/** RFC 7208 7.3: split, turned round, the last so many, joined with dots; an upper-case letter asks for URL escapes. */
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
  // Not encodeURIComponent alone: it leaves some, and throws on half a surrogate.
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
