import { receiveBody, type S3Client } from './s3-client.ts';

/** A page has 1,000 keys; it is far smaller than this. */
const MAX_LISTING = 16 * 1024 * 1024;

export interface ListedObject {
  /** Without the prefix of the client. */
  name: string;
  size: number;
  /** Last change, ms UTC by the clock of the service; NaN if it has none. */
  at: number;
}

/** Lists the objects whose names begin with `prefix`, page by page. */
export async function* listObjects(client: S3Client, prefix: string): AsyncGenerator<ListedObject[]> {
  const root = client.key('');
  for (let token: string | undefined, more = true; more;) {
    const url = client.url();
    url.searchParams.set('list-type', '2');
    url.searchParams.set('prefix', `${root}${prefix}`);
    if (token !== undefined) url.searchParams.set('continuation-token', token);
    const answer = await client.send('GET', url, Buffer.alloc(0), receiveBody(MAX_LISTING));
    const page = listingOf(answer?.value ?? Buffer.alloc(0));
    yield page.objects.map((one) => ({ ...one, name: one.name.slice(root.length) }));
    token = page.next;
    more = token !== undefined;
  }
}

/** Reads one page of a listing: keys, sizes, and the token of the next page. */
export function listingOf(body: Buffer): { objects: ListedObject[]; next: string | undefined } {
  const text = body.toString('utf8');
  const objects = text
    .split('<Contents>')
    .slice(1)
    .map((one) => ({
      name: unescapeXml(textIn(one, 'Key') ?? ''),
      size: Number(textIn(one, 'Size')),
      at: Date.parse(textIn(one, 'LastModified') ?? ''),
    }));
  const next = textIn(text, 'NextContinuationToken');
  return { objects, next: next === undefined ? undefined : unescapeXml(next) };
}

function textIn(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start < 0) return undefined;
  const from = start + tag.length + 2;
  const end = text.indexOf('<', from);
  return end < 0 ? undefined : text.slice(from, end);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(\w{2,4});/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
