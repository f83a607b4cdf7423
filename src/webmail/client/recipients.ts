import type { MailAddress } from './jmap-types.ts';

const EMAIL = /^[^\s@<>"(),;:]{1,64}@[^\s@<>"(),;:]{1,255}$/u;

export interface ParsedRecipients {
  addresses: MailAddress[];
  /** Texts that are no address. */
  invalid: string[];
}

/** Parses what a person types or pastes: addresses and "Name <address>", separated by commas, semicolons or lines. Linear. */
export function parseRecipients(text: string): ParsedRecipients {
  const found: ParsedRecipients = { addresses: [], invalid: [] };
  for (const piece of splitRecipients(text)) {
    const address = parseRecipient(piece);
    if (address === undefined) found.invalid.push(piece);
    else found.addresses.push(address);
  }
  return found;
}

function splitRecipients(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let quoted = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    if (!quoted && /[,;\n]/.test(char)) {
      pieces.push(piece.trim());
      piece = '';
    } else piece += char;
  }
  return [...pieces, piece.trim()].filter((one) => one !== '');
}

function parseRecipient(text: string): MailAddress | undefined {
  const open = text.lastIndexOf('<');
  if (open < 0) return EMAIL.test(text) ? { name: null, email: text } : undefined;
  const email = text
    .slice(open + 1)
    .replace(/>$/, '')
    .trim();
  const name = text.slice(0, open).trim().replaceAll('"', '');
  return text.endsWith('>') && EMAIL.test(email) ? { name: name === '' ? null : name, email } : undefined;
}
