/** Octets of a record, so that a response fits into UDP. RFC 7208 3.4. */
const MAX_OCTETS = 450;
/** Addresses to which every reporter has to send; more are up to it. RFC 7489 6.2, RFC 9990 3.5. */
const SURE_ADDRESSES = 2;
/** Tags of a record that are read: a record has about ten. */
const MAX_TAGS = 50;

const VERSION = /^v[ \t]*=[ \t]*(dmarc1|tlsrptv1)[ \t]*$/i;

/** Kind of a record that asks for reports; undefined: another one. RFC 7489 6.4, RFC 8460 3. */
export function reportRecordKind(text: string): 'dmarc' | 'tls' | undefined {
  const [first = ''] = text.slice(0, 100).split(';', 1);
  const [, version] = VERSION.exec(first.trim()) ?? [];
  if (version === undefined) return undefined;
  return version.toLowerCase() === 'dmarc1' ? 'dmarc' : 'tls';
}

/** `sure`: every reporter sends to the address; else some send to the first two only. */
export type RuaMerge =
  { kind: 'present' } | { kind: 'merged'; text: string; sure: boolean } | { kind: 'impossible'; why: string };

/** Adds an address to the `rua` of a record that somebody else wrote. All else stays as it is, the policy too. */
export function mergeRua(text: string, address: string): RuaMerge {
  const tags = text.split(';');
  const at = tags.flatMap((tag, i) => (isRua(tag) ? [i] : []));
  const [index, second] = at;
  if (second !== undefined || tags.length > MAX_TAGS)
    return { kind: 'impossible', why: 'the record there is invalid (two rua tags): correct it, then try again' };
  const uris = index === undefined ? [] : urisOf(tags[index] ?? '');
  if (uris.some((uri) => isFor(uri, address))) return { kind: 'present' };
  const merged =
    index === undefined ? appended(text, address) : tags.with(index, added(tags[index] ?? '', address)).join(';');
  if (Buffer.byteLength(merged) > MAX_OCTETS)
    return { kind: 'impossible', why: 'the record there is too long for another address: shorten it, then try again' };
  return { kind: 'merged', text: merged, sure: uris.length < SURE_ADDRESSES };
}

/** Takes our address out of a record that was changed since the merge; undefined if it is not there. */
export function withoutRua(text: string, address: string): string | undefined {
  const tags = text.split(';').slice(0, MAX_TAGS);
  const index = tags.findIndex((tag) => isRua(tag) && urisOf(tag).some((uri) => isFor(uri, address)));
  if (index === -1) return undefined;
  const tag = tags[index] ?? '';
  const left = urisOf(tag).filter((uri) => !isFor(uri, address));
  const start = tag.slice(0, tag.indexOf('=') + 1);
  const rest = left.length === 0 ? tags.toSpliced(index, 1) : tags.with(index, `${start}${left.join(',')}`);
  return rest.join(';');
}

const isRua = (tag: string): boolean =>
  tag.trimStart().slice(0, 3).toLowerCase() === 'rua' && /^[ \t]*rua[ \t]*=/i.test(tag);

/** Addresses of a tag, as they are written: with size limits. */
function urisOf(tag: string): string[] {
  const value = tag.slice(tag.indexOf('=') + 1);
  return value.split(',').filter((uri) => uri.trim() !== '');
}

/** Compares without the size limit ("!10m") and header fields. RFC 7489 6.2, RFC 6068 2. */
function isFor(uri: string, address: string): boolean {
  const [target = ''] = uri.trim().toLowerCase().split(/[!?]/, 1);
  return target === `mailto:${address.toLowerCase()}`;
}

function added(tag: string, address: string): string {
  const empty = urisOf(tag).length === 0;
  return `${tag.trimEnd().replace(/,$/, '')}${empty ? '' : ','}mailto:${address}`;
}

function appended(text: string, address: string): string {
  const start = text.trimEnd();
  return `${start}${start.endsWith(';') ? '' : ';'} rua=mailto:${address}`;
}
