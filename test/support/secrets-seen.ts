import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

const WINDOW = 12;

/** Every secret that was shown or given in a run, and where pieces of one turn up that should be nowhere. */
export class SecretsSeen {
  readonly #secrets = new Map<string, string>();

  get size(): number {
    return this.#secrets.size;
  }

  add(what: string, secret: unknown): string {
    if (typeof secret !== 'string' || secret.length < WINDOW)
      throw new Error(`${what} is no secret: ${String(secret)}`);
    this.#secrets.set(secret, what);
    return secret;
  }

  /** The names of those of which 12 characters or more stand there: plain, in hex, in base64, or as their octets. */
  in(haystack: Buffer | string): string[] {
    const octets = typeof haystack === 'string' ? Buffer.from(haystack) : haystack;
    const lower = Buffer.from(octets.toString('latin1').toLowerCase(), 'latin1');
    return [...this.#secrets]
      .filter(([secret]) => formsOf(secret).some(({ form, anyCase }) => (anyCase ? lower : octets).includes(form)))
      .map(([, what]) => what);
  }

  /** As `in`, over all files of a directory, with their names; `but` names directories that are not looked into. */
  async inFiles(directory: string, but: readonly string[] = []): Promise<string[]> {
    const found: string[] = [];
    for (const name of await readdir(directory, { recursive: true })) {
      const path = join(directory, name);
      if (but.some((one) => name.startsWith(`${one}/`)) || !(await stat(path)).isFile()) continue;
      found.push(...this.in(await readFile(path)).map((what) => `${name}: ${what}`));
    }
    return found;
  }
}

interface Form {
  form: Buffer;
  /** Hex is written in either case. */
  anyCase: boolean;
}

function formsOf(secret: string): Form[] {
  const forms: Form[] = [];
  // Beginnings are shown on purpose, so that people know a secret again: they are shorter than what is looked for.
  for (const from of [0, Math.floor((secret.length - WINDOW) / 2), secret.length - WINDOW]) {
    const piece = secret.slice(from, from + WINDOW);
    forms.push({ form: Buffer.from(piece), anyCase: false });
    forms.push({ form: Buffer.from(Buffer.from(piece).toString('hex')), anyCase: true });
    for (const shift of [0, 1, 2]) forms.push({ form: base64At(piece, shift), anyCase: false });
  }
  const digits = /[0-9a-f]{32,}$/.exec(secret)?.[0];
  if (digits !== undefined) forms.push({ form: Buffer.from(digits, 'hex').subarray(0, WINDOW), anyCase: false });
  return forms;
}

/**
 * Returns the octets that the base64 of any text with `piece` contains, if `piece` begins `shift` octets after a
 * multiple of three.
 */
function base64At(piece: string, shift: number): Buffer {
  const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(piece)]).toString('base64');
  return Buffer.from(text.slice(shift === 0 ? 0 : 4, Math.floor((piece.length + shift) / 3) * 4));
}
