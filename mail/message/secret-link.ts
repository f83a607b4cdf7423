import { decodeQuotedPrintable } from './decode.ts';
import { entities } from './html-text.ts';

/** Pages of a server whose links let in, or decide for, whoever opens them. */
export interface SecretLinks {
  /** Names and addresses under which the pages are reached, without ports. */
  readonly hosts: readonly string[];
  /** Paths of the pages; the secret stands behind them as `token`. */
  readonly paths: readonly string[];
}

/** Digits of a secret by which its link is known: some of the last may be lost where somebody cut the line. */
const DIGITS = 16;
/** The word before the secret as codings write it: percent, references, base64, UTF-16. */
const CODED = ['%74', '%54', '&#116', '&#x74', '&#X74', 'dG9rZW', 'Rva2Vu', '0b2tlb', 't\0o\0k\0'];

const TOKEN = bothCases(['token']);

function bothCases(words: readonly string[]): string[] {
  return words.flatMap((word) => [word, word.toUpperCase()]);
}

/** Finds links to the secret pages of a server in what others made of a letter. */
export class SecretLinkForms {
  readonly #link: RegExp;
  readonly #paths: readonly string[];
  readonly #hosts: readonly string[];
  /** What it was made of: plain data. */
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

  /** Whether octets may hold one: a look that costs next to nothing, as nearly all mail is done with it. */
  mayBeIn(octets: Buffer): boolean {
    const has = (signs: readonly string[]): boolean => signs.some((sign) => octets.includes(sign, 0, 'latin1'));
    // The end of a line cuts one of the three at most: they stand on less than a line.
    return has(this.#paths) || (has(TOKEN) && has(this.#hosts)) || has(CODED);
  }

  /** Whether a text has one, be it broken over lines, quoted, in an attribute, or inside of another link. */
  in(text: string): boolean {
    return this.#plainIn(text) || runsOf(text).some((run) => this.#plainIn(run));
  }

  /** The same of no more than the text as it stands. */
  literallyIn(text: string): boolean {
    return this.#link.test(text.replace(/[\s>\0]+/g, ''));
  }

  #plainIn(text: string): boolean {
    return WAYS.some((undo) => this.literallyIn(percent(percent(entities(undo(text))))));
  }
}

/** What may lie between the letters of a link, and how gateways write one that they put into theirs. */
const WAYS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/<[^<>]*>/g, ''),
  (text) => (text.includes('=') ? decodeQuotedPrintable(Buffer.from(text, 'latin1')).toString('latin1') : text),
  (text) => text.replaceAll('_', '/').replace(/-(?=[0-9A-F]{2})/g, '%'),
];

function percent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1'));
}

/** What is read of base64 inside of a text: a message that was attached without saying so. */
function runsOf(text: string): string[] {
  const runs = text.match(/[A-Za-z0-9+/_-]{40,}(?:\r?\n[A-Za-z0-9+/_-]+)*/g) ?? [];
  return runs.map((run) => Buffer.from(run, 'base64').toString('latin1'));
}

/** A text without what could be a link or a piece of one: such words are long. */
export function withoutLinks(text: string): string {
  return text.replace(/\S{20,}/g, '\u2026');
}
