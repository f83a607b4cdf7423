import { decodeQuotedPrintable } from './decode.ts';
import { decodeEntities } from './html-entities.ts';

/** Pages of this server whose links sign in, or decide for, whoever opens them. */
export interface SecretLinks {
  /** Host names and addresses of the pages, without ports. */
  readonly hosts: readonly string[];
  /** Paths of the pages; the secret follows in the parameter `token`. */
  readonly paths: readonly string[];
}

/** Hex digits that identify a secret; the last ones may be lost in a broken line. */
const DIGITS = 16;
/** The word "token" in percent-encoding, character references, base64 and UTF-16. */
const ENCODED_TOKENS = ['%74', '%54', '&#116', '&#x74', '&#X74', 'dG9rZW', 'Rva2Vu', '0b2tlb', 't\0o\0k\0'];

const TOKEN = bothCases(['token']);

function bothCases(words: readonly string[]): string[] {
  return words.flatMap((word) => [word, word.toUpperCase()]);
}

function hasAny(octets: Buffer, signs: readonly string[]): boolean {
  for (const sign of signs) if (octets.includes(sign, 0, 'latin1')) return true;
  return false;
}

/** Finds secret links of this server in forwarded, quoted and re-encoded copies of its notices. */
export class SecretLinkForms {
  readonly #link: RegExp;
  readonly #paths: readonly string[];
  readonly #hosts: readonly string[];
  /** Constructor argument: plain data for worker threads. */
  readonly links: SecretLinks;

  constructor(links: SecretLinks) {
    this.links = links;
    const { hosts, paths } = links;
    const one = (list: readonly string[]): string => list.map((text) => text.replace(/[^\w]/g, '\\$&')).join('|');
    this.#link = new RegExp(
      `(?:${one(hosts)})(?::\\d{1,5})?(?:${one(paths)})/?\\?[^"'<>]{0,300}?token=[0-9a-f]{${DIGITS}}`,
      'i',
    );
    this.#paths = bothCases(paths);
    this.#hosts = bothCases(hosts);
  }

  /** Cheap pre-check; nearly all mail fails it. */
  mayBeIn(octets: Buffer): boolean {
    // A line break can split only one of the three, as they fit on one line.
    return (
      hasAny(octets, this.#paths) ||
      (hasAny(octets, TOKEN) && hasAny(octets, this.#hosts)) ||
      hasAny(octets, ENCODED_TOKENS)
    );
  }

  /** True if a text contains a secret link: wrapped, quoted, in an attribute, or inside another link. */
  in(text: string): boolean {
    return this.#plainIn(text) || runsOf(text).some((run) => this.#plainIn(run));
  }

  /** Searches the text without decoding, ignoring white space and quote marks. */
  literallyIn(text: string): boolean {
    return this.#link.test(text.replace(/[\s>\0]+/g, ''));
  }

  #plainIn(text: string): boolean {
    return DECODERS.some((undo) => this.literallyIn(percent(percent(decodeEntities(undo(text))))));
  }
}

/** Undo tags, quoted-printable, and the encoding of link-rewriting gateways. */
const DECODERS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/<[^<>]*>/g, ''),
  (text) => (text.includes('=') ? decodeQuotedPrintable(Buffer.from(text, 'latin1')).toString('latin1') : text),
  (text) => text.replaceAll('_', '/').replace(/-(?=[0-9A-F]{2})/g, '%'),
];

function percent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1'));
}

/** Decodes base64 runs inside a text, such as an undeclared attached message. */
function runsOf(text: string): string[] {
  const runs = text.match(/[A-Za-z0-9+/_-]{40,}(?:\r?\n[A-Za-z0-9+/_-]+)*/g) ?? [];
  return runs.map((run) => Buffer.from(run, 'base64').toString('latin1'));
}

/** Removes long words, which may be a link or a part of one. */
export function withoutLinks(text: string): string {
  return text.replace(/\S{20,}/g, '\u2026');
}
