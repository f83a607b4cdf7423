import { redirectProblem } from './redirect-uri.ts';

const MOST_REDIRECTS = 20;
const LONGEST_NAME = 60;
/** Invisible or overriding: with these one name looks like another. */
const TRICKS = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu;

/** What a client says of itself, as far as it matters here. RFC 7591 2. */
export interface ClientMetadata {
  name: string;
  redirectUris: string[];
}

export type ReadMetadata = ClientMetadata | { error: 'invalid_redirect_uri' | 'invalid_client_metadata'; why: string };

/** Reads the metadata of a client: one that registers, or of its document. Only public clients with a code are taken. */
export function readMetadata(value: unknown): ReadMetadata {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unfit('the metadata is no JSON object');
  const given = value as Readonly<Record<string, unknown>>;
  const uris = given['redirect_uris'];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MOST_REDIRECTS) {
    return { error: 'invalid_redirect_uri', why: `redirect_uris has to list 1 to ${MOST_REDIRECTS} of them` };
  }
  for (const uri of uris as unknown[]) {
    const problem = typeof uri === 'string' ? redirectProblem(uri) : 'is no text';
    if (problem !== undefined) return { error: 'invalid_redirect_uri', why: `a redirect_uri ${problem}` };
  }
  if (!offers(given['grant_types'], 'authorization_code'))
    return unfit('only authorization_code is there to begin with');
  if (!offers(given['response_types'], 'code')) return unfit('only the response type code is there');
  return { name: nameOf(given['client_name']), redirectUris: uris as string[] };
}

function offers(list: unknown, wanted: string): boolean {
  return list === undefined || (Array.isArray(list) && list.includes(wanted));
}

function unfit(why: string): ReadMetadata {
  return { error: 'invalid_client_metadata', why };
}

/** A stranger's name on one line, without what makes it look like another one. */
function nameOf(value: unknown): string {
  const text = typeof value === 'string' ? value.slice(0, 4 * LONGEST_NAME).toWellFormed() : '';
  const plain = text.normalize('NFC').replace(TRICKS, ' ').replace(/\s+/g, ' ').trim();
  return plain === '' ? 'A program without a name' : plain.slice(0, LONGEST_NAME).toWellFormed();
}
